import Foundation

/// The share of the machine's processors that this process may use.
extension HostInfo {
    /// The number of online processors, or of those that the control groups of the process permit if that is less. Does
    /// not consider CPU affinity, because pinned processes usually share their processors.
    var processorShare: Double {
        ([Double(onlineProcessors)] + quotas).min() ?? 1
    }

    /// The number of processors in /sys/devices/system/cpu/online, such as `0-3,6`; 1 if it is unknown.
    private var onlineProcessors: Int {
        let counts = word("/sys/devices/system/cpu/online").split(separator: ",").map { range in
            let ends = range.split(separator: "-").compactMap { Int($0) }
            guard let first = ends.first, let last = ends.last, first <= last, last < 1 << 20 else { return 0 }
            return last - first + 1
        }
        return max(counts.reduce(0, +), 1)
    }

    /// The quotas of the process's control groups and all groups above them, in processors (cgroups(7)).
    private var quotas: [Double] {
        text("/proc/self/cgroup").split(separator: "\n").flatMap { line -> [Double] in
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 3, parts[1].isEmpty || parts[1].split(separator: ",").contains("cpu") else {
                return []
            }
            return ancestors(parts[2]).compactMap { parts[1].isEmpty ? unifiedQuota($0) : legacyQuota(parts[1], $0) }
        }
    }

    /// Returns a group's path and those above it; empty for the root.
    private func ancestors(_ path: String) -> [String] {
        var names = path.split(separator: "/")
        var paths = [""]
        while !names.isEmpty {
            paths.append("/" + names.joined(separator: "/"))
            names.removeLast()
        }
        return paths
    }

    /// Reads the quota of version 2: `cpu.max` contains the quota, or `max`, and the period in microseconds.
    private func unifiedQuota(_ path: String) -> Double? {
        let words = word("/sys/fs/cgroup\(path)/cpu.max").split(separator: " ").map { Double($0) }
        guard words.count == 2, let quota = words[0], let period = words[1], period > 0 else { return nil }
        return quota / period
    }

    /// Reads the quota of version 1, in two files; -1 means no quota.
    private func legacyQuota(_ controllers: String, _ path: String) -> Double? {
        let folder = "/sys/fs/cgroup/\(controllers)\(path)/cpu.cfs_"
        guard let quota = Double(word(folder + "quota_us")), let period = Double(word(folder + "period_us")),
            quota > 0, period > 0
        else { return nil }
        return quota / period
    }
}
