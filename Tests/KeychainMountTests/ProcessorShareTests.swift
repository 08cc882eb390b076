import Testing

@testable import KeychainMount

/// The number of processors that a daemon assumes, on which polling depends.
@Suite("the number of processors of a machine, reduced by the quotas of control groups") struct ProcessorShareTests {
    @Test(
        "online ones",
        arguments: [("0", 1), ("0-1", 2), ("0-3,6", 5), ("0,2-3\n", 3), ("", 1), ("none", 1), ("3-1", 1)])
    func online(text: String, share: Double) throws {
        let machine = try FakeMachine(["/sys/devices/system/cpu/online": text])
        #expect(HostInfo(root: machine.root).processorShare == share)
    }

    @Test("version 2: the least of the group and all above it")
    func unified() throws {
        let machine = try FakeMachine([
            "/sys/devices/system/cpu/online": "0-7", "/proc/self/cgroup": "0::/user.slice/session.scope\n",
            "/sys/fs/cgroup/user.slice/cpu.max": "150000 100000\n",
            "/sys/fs/cgroup/user.slice/session.scope/cpu.max": "max 100000\n",
        ])
        #expect(HostInfo(root: machine.root).processorShare == 1.5)
        try machine.put("/sys/fs/cgroup/cpu.max", "50000 100000\n")
        #expect(HostInfo(root: machine.root).processorShare == 0.5)
    }

    @Test("version 1: a quota of -1 means no quota")
    func legacy() throws {
        let machine = try FakeMachine([
            "/sys/devices/system/cpu/online": "0-7", "/proc/self/cgroup": "4:memory:/a\n2:cpu,cpuacct:/job\n",
            "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1\n",
            "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
            "/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us": "100000\n",
            "/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us": "100000\n",
        ])
        #expect(HostInfo(root: machine.root).processorShare == 1)
        try machine.put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1")
        #expect(HostInfo(root: machine.root).processorShare == 8)
    }

    @Test("invalid quotas are ignored", arguments: ["", "max", "100000", "x y", "100000 0"])
    func nonsense(text: String) throws {
        let machine = try FakeMachine([
            "/sys/devices/system/cpu/online": "0-1", "/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/cpu.max": text,
        ])
        #expect(HostInfo(root: machine.root).processorShare == 2)
    }
}
