package import SecretCrypto

/// The protection of the daemon's memory as part of `status` (contract, H6), measured for each status.
package struct HardeningStatus: Codable, Sendable {
    package let memoryLocked: Bool
    /// Whether all receive buffers are locked in memory.
    package let buffersLocked: Bool
    /// `VmLck` of /proc/self/status in KiB: the memory that the kernel counts as locked.
    package let lockedKilobytes: Int
    package let undumpable: Bool
    package let coreDumpsDisabled: Bool
    package let crashReportsOff: Bool
    package let allocatorWipes: Bool
    /// Whether the daemon cannot gain privileges by starting a program (`no_new_privs`, prctl(2)).
    package let noNewPrivileges: Bool
    /// Whether the system has swap space, to which memory that is not locked may be written, or that is unknown.
    package let swapActive: Bool
    /// Yama's `ptrace_scope`. 0 permits a user to trace all of the user's dumpable processes; nil if it does not exist.
    package let ptraceScope: Int?

    package init(_ report: ProcessHardening.Report, buffersLocked: Bool, host: HostInfo = HostInfo()) {
        memoryLocked = report.memoryLocked
        self.buffersLocked = buffersLocked
        lockedKilobytes = host.lockedKilobytes
        undumpable = report.undumpable
        coreDumpsDisabled = report.coreDumpsDisabled
        crashReportsOff = report.crashReportsOff
        allocatorWipes = report.allocatorWipes
        noNewPrivileges = host.hasNoNewPrivileges
        swapActive = host.hasSwap
        ptraceScope = host.ptraceScope
    }

    /// The measures for users, and whether each is in force.
    var measures: [(holds: Bool, text: String)] {
        [
            (memoryLocked, "keys and plaintext locked in memory"), (buffersLocked, "receive buffers locked"),
            (undumpable, "cannot be traced"), (coreDumpsDisabled, "no core dumps"),
            (crashReportsOff, "no crash reports"), (allocatorWipes, "freed memory wiped"),
            (noNewPrivileges, "no new privileges"),
        ]
    }
}
