extension Session {
    /// Unmounts the FUSE mount of another process: as root with umount2(2), otherwise through fusermount3.
    ///
    /// - Throws: ``FuseError/busy`` while files are open and `lazily` is false.
    public static func unmount(at path: String, lazily: Bool = false) throws(FuseError) {
        try Mount.unmount(path, lazily: lazily)
    }
}
