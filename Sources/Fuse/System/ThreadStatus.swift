import CFuse3
import Glibc

/// What `/proc/PID/stat` tells of a thread (proc(5)); the number that FUSE gives is that of a thread.
public struct ThreadStatus: Hashable, Sendable {
    /// The thread is on its way out (PF_EXITING).
    public let isExiting: Bool
    /// The signal that ends it; 0 for an ordinary exit, and where it may not be looked at.
    public let endingSignal: Int32

    /// PF_EXITING of `linux/sched.h`.
    private static let exiting: UInt64 = 0x4

    /// Nil if there is no such thread, or it cannot be read.
    public init?(threadID: Int32) {
        guard threadID > 0, let text = Self.read("/proc/\(threadID)/stat") else { return nil }
        self.init(text)
    }

    /// From a line of the file. The name, which may hold anything, ends at the last `)`.
    init?(_ line: String) {
        guard let name = line.lastIndex(of: ")") else { return nil }
        // Field 3, the state, is the first after the name.
        let fields = line[line.index(after: name)...].split(separator: " ")
        guard fields.count >= 50, let flags = UInt64(fields[6]), let code = Int32(fields[49].trimmingNewline) else {
            return nil
        }
        isExiting = flags & Self.exiting != 0
        endingSignal = code & 0x7F
    }

    /// A file of a few hundred bytes, in one read.
    private static func read(_ path: String) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { return nil }
        return String(decoding: buffer.prefix(count), as: UTF8.self)
    }
}

extension Substring {
    fileprivate var trimmingNewline: Substring { last == "\n" ? dropLast() : self }
}
