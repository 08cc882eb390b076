import Foundation
import Fuse
import LinuxSupport

/// Information about this system and process in /proc, /sys, /etc and /run.
package struct HostInfo: Sendable {
    private let root: String

    /// - Parameter root: The prefix of each path: a directory with other files, for tests.
    package init(root: String = "") { self.root = root }

    /// `VmLck`, proc_pid_status(5).
    var lockedKilobytes: Int {
        let line = text("/proc/self/status").split(separator: "\n").first { $0.hasPrefix("VmLck:") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    /// Whether no thread of this process can gain privileges by starting a program (`NoNewPrivs`, proc_pid_status(5)).
    var hasNoNewPrivileges: Bool {
        let threads = names("/proc/self/task")
        return !threads.isEmpty
            && threads.allSatisfy { thread in
                let status = text("/proc/self/task/\(thread)/status")
                // The thread has exited in the meantime.
                return status.isEmpty || status.contains("\nNoNewPrivs:\t1\n")
            }
    }

    /// Whether there is swap space, or that is unknown: /proc/swaps has a heading, and a line for each area. A service with
    /// `ProcSubset=pid` does not see it.
    var hasSwap: Bool { text("/proc/swaps").split(separator: "\n").count != 1 }

    /// /proc/sys/kernel/yama/ptrace_scope; nil without Yama.
    var ptraceScope: Int? { Int(word("/proc/sys/kernel/yama/ptrace_scope")) }

    /// The kernel release, such as `6.18.44-…`.
    var kernelRelease: String { word("/proc/sys/kernel/osrelease") }

    /// RLIMIT_MEMLOCK in bytes; nil for no limit.
    var lockLimit: Int? {
        let line = text("/proc/self/limits").split(separator: "\n").first { $0.hasPrefix("Max locked memory") }
        return line.flatMap { $0.split(separator: " ").dropFirst(3).first }.flatMap { Int($0) }
    }

    var mounts: MountTable { MountTable(parsing: Array(text("/proc/self/mountinfo").utf8)) }

    /// Whether fuse.conf permits ordinary users to mount for others: a line `user_allow_other` (mount.fuse3(8)).
    var usersMayAllowOthers: Bool {
        text("/etc/fuse.conf").split(separator: "\n").contains {
            $0.trimmingCharacters(in: .whitespaces) == "user_allow_other"
        }
    }

    /// The types of file systems that updatedb ignores (updatedb.conf(5)); nil if it is not installed.
    var prunedFileSystems: [String]? {
        guard let line = text("/etc/updatedb.conf").split(separator: "\n").first(where: { $0.hasPrefix("PRUNEFS") })
        else { return exists("/etc/updatedb.conf") ? [] : nil }
        let value = line.drop { $0 != "=" }.dropFirst()
        return value.split { $0 == " " || $0 == "\"" }.map(String.init)
    }

    /// Whether systemd-logind is available: its sessions, and the system bus.
    var hasLogin: Bool { exists("/run/systemd/sessions") && exists("/run/dbus/system_bus_socket") }

    func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: root + path) }

    /// Returns the names in a directory; empty if it cannot be read.
    func names(_ directory: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: root + directory)) ?? []).sorted()
    }

    /// Returns the contents of a file of one line.
    func word(_ path: String) -> String { text(path).trimmingCharacters(in: .whitespacesAndNewlines) }

    /// Returns the contents of a file, as a stream because files of /proc have no size; empty if it cannot be read.
    func text(_ path: String) -> String {
        guard let file = FileHandle(forReadingAtPath: root + path) else { return "" }
        defer { try? file.close() }
        let data = (try? file.read(upToCount: 1 << 20)) ?? Data()
        return String(decoding: data, as: UTF8.self)
    }
}
