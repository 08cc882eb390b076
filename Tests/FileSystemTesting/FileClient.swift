import FileSystemCore
import SystemPackage

/// A program's view of a file system: the calls of POSIX that conformance suites are written with.
///
/// Paths begin with `/`, the root of the file system. Descriptors are numbers of the client.
public protocol FileClient: Sendable {
    func open(_ path: String, _ flags: OpenFlags, mode: UInt32) throws(Errno) -> Int
    /// close(2): flushes, and releases with the last duplicate. The descriptor is closed even if this throws.
    func close(_ descriptor: Int) throws(Errno)
    /// dup(2) in the same process.
    func duplicate(_ descriptor: Int) throws(Errno) -> Int
    /// read(2) at the descriptor's position; empty at the end.
    func read(_ descriptor: Int, _ count: Int) throws(Errno) -> [UInt8]
    func pread(_ descriptor: Int, _ count: Int, at offset: UInt64) throws(Errno) -> [UInt8]
    /// write(2) of all `bytes`.
    func write(_ descriptor: Int, _ bytes: [UInt8]) throws(Errno)
    func pwrite(_ descriptor: Int, _ bytes: [UInt8], at offset: UInt64) throws(Errno)
    /// lseek(2) with SEEK_SET.
    func seek(_ descriptor: Int, to offset: UInt64) throws(Errno)
    func fsync(_ descriptor: Int, dataOnly: Bool) throws(Errno)
    func ftruncate(_ descriptor: Int, _ size: UInt64) throws(Errno)
    func fstat(_ descriptor: Int) throws(Errno) -> Attributes
    /// copy_file_range(2) between explicit offsets.
    func copyRange(
        from: Int, at fromOffset: UInt64, to: Int, at toOffset: UInt64, count: Int
    ) throws(Errno) -> Int

    func truncate(_ path: String, _ size: UInt64) throws(Errno)
    func stat(_ path: String) throws(Errno) -> Attributes
    func chmod(_ path: String, _ permissions: UInt32) throws(Errno)
    func chown(_ path: String, user: UInt32?, group: UInt32?) throws(Errno)
    /// utimensat(2); nil leaves a time as it is.
    func setTimes(
        _ path: String, access: AttributeChanges.Time?, modification: AttributeChanges.Time?
    ) throws(Errno)
    func rename(_ from: String, _ to: String, _ flags: RenameFlags) throws(Errno)
    func unlink(_ path: String) throws(Errno)
    func mkdir(_ path: String, mode: UInt32) throws(Errno)
    func rmdir(_ path: String) throws(Errno)
    /// mknod(2) of a node without device number.
    func mknod(_ path: String, _ type: FileSystemCore.FileType, mode: UInt32) throws(Errno)
    func symlink(_ target: String, at path: String) throws(Errno)
    func link(_ existing: String, at path: String) throws(Errno)

    /// The names that readdir(3) returns, without `.` and `..`. Entries before an error are discarded; see
    /// ``DirectoryRead``.
    func list(_ path: String) throws(Errno) -> [String]
    /// Reads all entries of a directory up to an error, and returns both.
    func readDirectory(_ path: String) throws(Errno) -> DirectoryRead
    func setxattr(_ path: String, _ name: String, _ value: [UInt8], _ flags: XattrFlags) throws(Errno)
    func getxattr(_ path: String, _ name: String) throws(Errno) -> [UInt8]
    func listxattr(_ path: String) throws(Errno) -> [String]
    func removexattr(_ path: String, _ name: String) throws(Errno)
    func statistics(_ path: String) throws(Errno) -> FileSystemStatistics
}

/// The result of reading a directory.
public struct DirectoryRead: Sendable {
    public var names: [String] = []
    /// The types of the entries that have one (`d_type`), by name.
    public var types: [String: FileSystemCore.FileType] = [:]
    /// The error that ended the listing, or nil.
    public var error: Errno?

    public init() {}
}

extension FileClient {
    public func open(_ path: String, _ flags: OpenFlags) throws(Errno) -> Int {
        try open(path, flags, mode: 0o600)
    }
    public func rename(_ from: String, _ to: String) throws(Errno) { try rename(from, to, []) }
    public func mkdir(_ path: String) throws(Errno) { try mkdir(path, mode: 0o700) }
    public func fsync(_ descriptor: Int) throws(Errno) { try fsync(descriptor, dataOnly: false) }
    public func setxattr(_ path: String, _ name: String, _ value: String) throws(Errno) {
        try setxattr(path, name, Array(value.utf8), [])
    }

    public func list(_ path: String) throws(Errno) -> [String] {
        let read = try readDirectory(path)
        if let error = read.error { throw error }
        return read.names
    }

    /// `cat`
    public func contents(_ path: String) throws(Errno) -> [UInt8] {
        let descriptor = try open(path, [])
        let result = Result { () throws(Errno) in try readAll(descriptor) }
        try close(descriptor)
        return try result.get()
    }

    /// From the descriptor's position to the end.
    public func readAll(_ descriptor: Int) throws(Errno) -> [UInt8] {
        var all: [UInt8] = []
        while true {
            let bytes = try read(descriptor, 65_536)
            if bytes.isEmpty { return all }
            all += bytes
        }
    }

    /// `cat > path`: creates or truncates, writes, closes. The error of whichever call fails.
    public func put(_ path: String, _ bytes: [UInt8]) throws(Errno) {
        let descriptor = try open(path, [.create, .writeOnly, .truncate], mode: 0o600)
        let result = Result { () throws(Errno) in try write(descriptor, bytes) }
        try close(descriptor)
        try result.get()
    }

    public func put(_ path: String, _ text: String) throws(Errno) { try put(path, Array(text.utf8)) }

    public func text(_ path: String) throws(Errno) -> String {
        String(decoding: try contents(path), as: UTF8.self)
    }

    public func exists(_ path: String) -> Bool { (try? stat(path)) != nil }

    /// The errno that `body` throws, or nil.
    public func errno(_ body: (Self) throws(Errno) -> Void) -> Errno? {
        do throws(Errno) {
            try body(self)
            return nil
        } catch {
            return error
        }
    }
}
