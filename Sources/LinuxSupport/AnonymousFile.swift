import CLinuxSupport
import Glibc
public import SystemPackage

/// A file in memory, without a name (memfd_create(2)). A process that writes to it never waits, also after others have ended.
public struct AnonymousFile: ~Copyable, Sendable {
    public let descriptor: FileDescriptor

    /// - Parameter label: The name in /proc/PID/fd.
    /// - Throws: The errno of memfd_create(2).
    public init(label: String) throws(Errno) {
        let file = unsafe anonymous_file(label)
        guard file >= 0 else { throw Errno(rawValue: -file) }
        descriptor = FileDescriptor(rawValue: file)
    }

    deinit { try? descriptor.close() }

    /// Returns the first bytes; none if they cannot be read.
    public func contents(limit: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = unsafe pread(descriptor.rawValue, &bytes, limit, 0)
        return Array(bytes.prefix(max(0, count)))
    }
}
