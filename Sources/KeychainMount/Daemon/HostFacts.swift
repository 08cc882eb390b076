import Foundation

/// What /proc and /sys say about this system and process.
package struct HostFacts: Sendable {
    package init() {}

    /// `VmLck`, proc_pid_status(5).
    var lockedKilobytes: Int {
        let line = Self.text("/proc/self/status").split(separator: "\n").first { $0.hasPrefix("VmLck:") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    /// /proc/swaps has a heading, and a line for each area.
    var hasSwap: Bool { Self.text("/proc/swaps").split(separator: "\n").count > 1 }

    /// /proc/sys/kernel/yama/ptrace_scope; nil without Yama.
    var ptraceScope: Int? {
        Int(Self.text("/proc/sys/kernel/yama/ptrace_scope").trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// `6.18.44-…`
    var kernelRelease: String {
        Self.text("/proc/sys/kernel/osrelease").trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// RLIMIT_MEMLOCK in bytes; nil for no limit.
    var lockLimit: Int? {
        let line = Self.text("/proc/self/limits").split(separator: "\n").first { $0.hasPrefix("Max locked memory") }
        return line.flatMap { $0.split(separator: " ").dropFirst(3).first }.flatMap { Int($0) }
    }

    /// Files of /proc have no size: read as a stream. Empty if it cannot be read.
    private static func text(_ path: String) -> String {
        guard let file = FileHandle(forReadingAtPath: path) else { return "" }
        defer { try? file.close() }
        let data = (try? file.read(upToCount: 65_536)) ?? Data()
        return String(decoding: data, as: UTF8.self)
    }
}
