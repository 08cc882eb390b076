package import SecretCrypto

/// What `status` says about the protection of the daemon's memory (contract H6): measured when it is asked for.
package struct HardeningStatus: Codable, Sendable {
    package let memoryLocked: Bool
    /// All buffers that requests are received in.
    package let buffersLocked: Bool
    /// `VmLck` of /proc/self/status, in KiB: what the kernel counts as locked.
    package let lockedKilobytes: Int
    package let undumpable: Bool
    package let coreDumpsDisabled: Bool
    package let crashReportsOff: Bool
    package let allocatorWipes: Bool
    /// The daemon gains no privilege by starting a program (`no_new_privs`, prctl(2)).
    package let noNewPrivileges: Bool
    /// Whether the system has swap space, to which memory that is not locked may be written.
    package let swapActive: Bool
    /// Yama's `ptrace_scope`: 0 lets a user trace all processes of his own that are dumpable; nil: not there.
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

    /// For the user: what holds and what does not.
    var measures: [(holds: Bool, text: String)] {
        [
            (memoryLocked, "keys and plaintext locked in memory"), (buffersLocked, "receive buffers locked"),
            (undumpable, "cannot be traced"), (coreDumpsDisabled, "no core dumps"),
            (crashReportsOff, "no crash reports"), (allocatorWipes, "freed memory wiped"),
            (noNewPrivileges, "no new privileges"),
        ]
    }
}
