import CFuse3
import FileSystemCore
import Fuse
import Glibc
import SystemPackage

extension MountedClient {
    public func truncate(_ path: String, _ size: UInt64) throws(Errno) {
        try check(Glibc.truncate(real(path), Int(size)))
    }

    public func stat(_ path: String) throws(Errno) -> Attributes {
        var status = Glibc.stat()
        try check(lstat(real(path), &status))
        return Attributes(status)
    }

    public func chmod(_ path: String, _ permissions: UInt32) throws(Errno) {
        try check(Glibc.chmod(real(path), permissions))
    }

    public func chown(_ path: String, user: UInt32?, group: UInt32?) throws(Errno) {
        try check(Glibc.lchown(real(path), user ?? .max, group ?? .max))
    }

    public func setTimes(
        _ path: String, access: AttributeChanges.Time?, modification: AttributeChanges.Time?
    ) throws(Errno) {
        let times = [Self.time(access), Self.time(modification)]
        try check(utimensat(AT_FDCWD, real(path), times, AT_SYMLINK_NOFOLLOW))
    }

    /// `UTIME_NOW` and `UTIME_OMIT` of utimensat(2).
    private static func time(_ time: AttributeChanges.Time?) -> timespec {
        switch time {
        case nil: timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2)
        case .now: timespec(tv_sec: 0, tv_nsec: (1 << 30) - 1)
        case .at(let time): timespec(tv_sec: Int(time.seconds), tv_nsec: Int(time.nanoseconds))
        }
    }

    public func rename(_ from: String, _ to: String, _ flags: RenameFlags) throws(Errno) {
        guard !flags.isEmpty else {
            try check(Glibc.rename(real(from), real(to)))
            return
        }
        // renameat2(2), which Glibc's module does not have.
        typealias Call =
            @convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32
        guard let symbol = dlsym(nil, "renameat2") else { throw .noFunction }
        let call = unsafeBitCast(symbol, to: Call.self)
        try check(call(AT_FDCWD, real(from), AT_FDCWD, real(to), flags.rawValue))
    }

    public func unlink(_ path: String) throws(Errno) { try check(Glibc.unlink(real(path))) }
    public func mkdir(_ path: String, mode: UInt32) throws(Errno) { try check(Glibc.mkdir(real(path), mode)) }
    public func rmdir(_ path: String) throws(Errno) { try check(Glibc.rmdir(real(path))) }

    public func mknod(_ path: String, _ type: FileSystemCore.FileType, mode: UInt32) throws(Errno) {
        try check(Glibc.mknod(real(path), type.rawValue | mode, 0))
    }

    public func symlink(_ target: String, at path: String) throws(Errno) {
        try check(Glibc.symlink(target, real(path)))
    }

    public func link(_ existing: String, at path: String) throws(Errno) {
        try check(Glibc.link(real(existing), real(path)))
    }

    public func readDirectory(_ path: String) throws(Errno) -> DirectoryRead {
        guard let directory = opendir(real(path)) else { throw Errno(rawValue: Glibc.errno) }
        defer { closedir(directory) }
        var result = DirectoryRead()
        while true {
            Glibc.errno = 0
            guard let entry = readdir(directory) else {
                if Glibc.errno != 0 { result.error = Errno(rawValue: Glibc.errno) }
                return result
            }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name != ".", name != ".." else { continue }
            result.names.append(name)
            result.types[name] = FileSystemCore.FileType(rawValue: UInt32(entry.pointee.d_type) << 12)
        }
    }

    public func setxattr(_ path: String, _ name: String, _ value: [UInt8], _ flags: XattrFlags) throws(Errno) {
        try check(lsetxattr(real(path), name, value, value.count, flags.rawValue))
    }

    public func getxattr(_ path: String, _ name: String) throws(Errno) -> [UInt8] {
        let path = real(path)
        return try grow { memory, size in Int(lgetxattr(path, name, memory, size)) }
    }

    public func listxattr(_ path: String) throws(Errno) -> [String] {
        let path = real(path)
        let bytes = try grow { memory, size in Int(llistxattr(path, memory?.assumingMemoryBound(to: CChar.self), size))
        }
        return bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }

    public func removexattr(_ path: String, _ name: String) throws(Errno) {
        try check(lremovexattr(real(path), name))
    }

    /// Asks for the size, then for as much.
    private func grow(
        _ body: (UnsafeMutableRawPointer?, Int) -> Int
    ) throws(Errno) -> [UInt8] {
        let size = try check(body(nil, 0))
        guard size > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: size)
        let count = try check(bytes.withUnsafeMutableBytes { body($0.baseAddress, $0.count) })
        return Array(bytes[..<count])
    }

    public func statistics(_ path: String) throws(Errno) -> FileSystemStatistics {
        try FileSystemStatistics(ofPath: real(path))
    }
}
