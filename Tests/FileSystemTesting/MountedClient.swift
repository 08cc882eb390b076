import CFuse3
import FileSystemCore
import Glibc
import SystemPackage

/// System calls below a directory, `/` being the directory itself.
public struct MountedClient: FileClient {
    public let root: String

    public init(root: String) { self.root = root }

    /// The real path of `path`.
    public func real(_ path: String) -> String { path == "/" ? root : root + path }

    /// Whether the name exists. Sends no request if the kernel has it cached (O_PATH).
    public func finds(_ path: String) -> Bool {
        let pathOnly: Int32 = 0o10000000
        let descriptor = Glibc.open(real(path), pathOnly | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        Glibc.close(descriptor)
        return true
    }

    /// The result of a system call that returns -1 on failure.
    @discardableResult
    func check<Number: SignedInteger>(_ result: Number) throws(Errno) -> Number {
        guard result >= 0 else { throw Errno(rawValue: Glibc.errno) }
        return result
    }

    public func open(_ path: String, _ flags: OpenFlags, mode: UInt32) throws(Errno) -> Int {
        Int(try check(Glibc.open(real(path), flags.rawValue | O_CLOEXEC, mode)))
    }

    public func close(_ descriptor: Int) throws(Errno) { try check(Glibc.close(Int32(descriptor))) }
    public func duplicate(_ descriptor: Int) throws(Errno) -> Int {
        Int(try check(fcntl(Int32(descriptor), F_DUPFD_CLOEXEC, 0)))
    }

    public func read(_ descriptor: Int, _ count: Int) throws(Errno) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let taken = try check(Glibc.read(Int32(descriptor), &bytes, count))
        return Array(bytes[..<taken])
    }

    public func pread(_ descriptor: Int, _ count: Int, at offset: UInt64) throws(Errno) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let taken = try check(Glibc.pread(Int32(descriptor), &bytes, count, Int(offset)))
        return Array(bytes[..<taken])
    }

    public func write(_ descriptor: Int, _ bytes: [UInt8]) throws(Errno) {
        var done = 0
        repeat {
            let rest = Array(bytes[done...])
            done += try check(Glibc.write(Int32(descriptor), rest, rest.count))
        } while done < bytes.count
    }

    public func pwrite(_ descriptor: Int, _ bytes: [UInt8], at offset: UInt64) throws(Errno) {
        var done = 0
        repeat {
            let rest = Array(bytes[done...])
            done += try check(Glibc.pwrite(Int32(descriptor), rest, rest.count, Int(offset) + done))
        } while done < bytes.count
    }

    public func seek(_ descriptor: Int, to offset: UInt64) throws(Errno) {
        try check(lseek(Int32(descriptor), Int(offset), SEEK_SET))
    }

    public func fsync(_ descriptor: Int, dataOnly: Bool) throws(Errno) {
        try check(dataOnly ? fdatasync(Int32(descriptor)) : Glibc.fsync(Int32(descriptor)))
    }

    public func ftruncate(_ descriptor: Int, _ size: UInt64) throws(Errno) {
        try check(Glibc.ftruncate(Int32(descriptor), Int(size)))
    }

    public func fstat(_ descriptor: Int) throws(Errno) -> Attributes {
        var status = Glibc.stat()
        try check(Glibc.fstat(Int32(descriptor), &status))
        return Attributes(status)
    }

    public func copyRange(
        from: Int, at fromOffset: UInt64, to: Int, at toOffset: UInt64, count: Int
    ) throws(Errno) -> Int {
        var source = Int64(fromOffset)
        var target = Int64(toOffset)
        return Int(
            try check(copy_file_range_call(Int32(from), &source, Int32(to), &target, count)))
    }
}

/// copy_file_range(2), which Glibc's module does not have.
private func copy_file_range_call(
    _ from: Int32, _ fromOffset: inout Int64, _ to: Int32, _ toOffset: inout Int64, _ count: Int
) -> Int {
    typealias Call =
        @convention(c) (
            Int32, UnsafeMutablePointer<Int64>, Int32, UnsafeMutablePointer<Int64>, Int, UInt32
        ) -> Int
    guard let symbol = dlsym(nil, "copy_file_range") else {
        errno = ENOSYS
        return -1
    }
    return unsafeBitCast(symbol, to: Call.self)(from, &fromOffset, to, &toOffset, count, 0)
}

extension Attributes {
    /// Converts a result of stat(2).
    public init(_ status: Glibc.stat) {
        self.init(
            inode: InodeNumber(rawValue: UInt64(status.st_ino)),
            type: FileSystemCore.FileType(rawValue: status.st_mode & FileSystemCore.FileType.mask) ?? .regular,
            permissions: status.st_mode & 0o7777, linkCount: UInt32(status.st_nlink), userID: status.st_uid,
            groupID: status.st_gid, size: UInt64(status.st_size), accessTime: Timestamp(status.st_atim),
            modificationTime: Timestamp(status.st_mtim), changeTime: Timestamp(status.st_ctim))
    }
}

extension Timestamp {
    init(_ time: timespec) { self.init(seconds: Int64(time.tv_sec), nanoseconds: Int32(time.tv_nsec)) }
}
