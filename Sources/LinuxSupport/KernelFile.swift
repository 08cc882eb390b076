import SystemPackage

/// Files below `/proc` whose contents the kernel generates during a read.
enum KernelFile {
    /// A limit above the size of any such file in bytes.
    private static let limit = 1 << 24

    /// Opens a file for reading. The caller closes it.
    ///
    /// - Throws: The errno of open(2).
    static func open(_ path: String) throws(Errno) -> FileDescriptor {
        do {
            return try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
        } catch {
            throw (error as? Errno) ?? .ioError
        }
    }

    /// Reads a complete file.
    ///
    /// - Throws: The errno of open(2) or read(2).
    static func contents(of path: String) throws(Errno) -> [UInt8] {
        let file = try open(path)
        defer { try? file.close() }
        return try contents(of: file)
    }

    /// Reads the rest of an open file.
    ///
    /// - Throws: The errno of read(2).
    static func contents(of file: FileDescriptor) throws(Errno) -> [UInt8] {
        do {
            var contents: [UInt8] = []
            var part = [UInt8](repeating: 0, count: 16_384)
            while contents.count < limit {
                let count = try unsafe part.withUnsafeMutableBytes { bytes in try unsafe file.read(into: bytes) }
                guard count > 0 else { break }
                contents += part[..<count]
            }
            return contents
        } catch {
            throw (error as? Errno) ?? .ioError
        }
    }
}
