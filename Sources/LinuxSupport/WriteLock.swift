import CLinuxSupport
public import SystemPackage

/// A POSIX lock for writing on bytes of a file (fcntl_locking(2)).
public enum WriteLock {
    /// Returns the process that holds such a lock on one of the bytes; 0 if it is in a PID namespace that is not visible; nil
    /// without a lock.
    ///
    /// Asks the kernel about the file itself: the list of locks in `/proc` contains only those of visible processes.
    ///
    /// - Throws: The errno of fcntl(2).
    public static func holder(of bytes: Range<Int64>, in file: FileDescriptor) throws(Errno) -> Int32? {
        let holder = lock_holder(file.rawValue, bytes.lowerBound, bytes.upperBound - bytes.lowerBound)
        guard holder >= 0 else { throw Errno(rawValue: -holder) }
        return holder == LOCK_HOLDER_NONE ? nil : holder
    }
}
