import SecretCrypto

/// Whether secrets stay in memory, inaccessible to other processes.
extension Doctor {
    var memory: [Diagnosis.Finding] { [lockLimit] + process + [swap, hibernation, tracing] }

    /// The required locked memory in bytes: the arena of 2 MiB and four receive buffers.
    private static let neededLock = 7 << 20

    private var lockLimit: Diagnosis.Finding {
        guard let limit = host.lockLimit, limit < Self.neededLock, user != 0 else {
            return .init("memory-lock-limit", .ok, "Enough memory may be locked.")
        }
        return .init(
            "memory-lock-limit", .warning,
            "Only \(limit >> 10) KiB of memory may be locked, \(Self.neededLock >> 10) are needed: secrets may be swapped out.",
            "Raise 'memlock' in /etc/security/limits.conf or LimitMEMLOCK= of the unit to 8 MiB.")
    }

    private var process: [Diagnosis.Finding] {
        let report = ProcessHardening.report()
        let measures: [(String, Bool, String)] = [
            ("memory-locked", report.memoryLocked, "Memory for secrets can be locked"),
            ("no-core-dumps", report.undumpable && report.coreDumpsDisabled, "Core dumps and tracing can be refused"),
            ("no-crash-reports", report.crashReportsOff, "Crash reports are off"),
            ("freed-memory-wiped", report.allocatorWipes, "Memory that is freed is wiped"),
        ]
        return measures.map { name, holds, text in
            holds
                ? .init(name, .ok, text + ".")
                : .init(name, .warning, text + ": NOT in force.", "'keychainfs status' shows it for a running daemon.")
        }
    }

    private var swap: Diagnosis.Finding {
        let areas = host.swapAreas
        guard !areas.isEmpty else {
            guard host.hasSwap else { return .init("swap", .ok, "There is no swap space.") }
            return .init(
                "swap", .warning, "It is unknown whether there is swap space: /proc/swaps cannot be read.",
                "'swapon --show' outside of this sandbox.")
        }
        guard let readable = areas.first(where: { $0.medium == .readable }) else {
            return .init("swap", .ok, "Swap space is encrypted, or memory.")
        }
        return .init(
            "swap", .warning,
            "Swap space \(readable.path) is not encrypted: keys and secrets are in locked memory, but not the work memory of Argon2id.",
            "Encrypt it (crypttab(5), option 'swap'), or turn it off with 'swapoff \(readable.path)'.")
    }

    /// Hibernation writes all memory to disk, locked memory included.
    private var hibernation: Diagnosis.Finding {
        guard let device = host.hibernationDevice else {
            return .init("hibernation", .ok, "This machine does not hibernate.")
        }
        guard !host.isEncrypted("/sys/dev/block/\(device)") else {
            return .init("hibernation", .ok, "This machine hibernates to an encrypted disk.")
        }
        return .init(
            "hibernation", .warning,
            "This machine hibernates to a disk (\(device)) that is not encrypted: all memory is written there, keys too.",
            "Encrypt its swap space. 'mount --lock-on suspend' locks before that, which wipes the keys of locked items."
        )
    }

    private var tracing: Diagnosis.Finding {
        if let scope = host.ptraceScope, scope > 0 {
            return .init(
                "tracing", .ok, "Your programs cannot read each other's memory (ptrace_scope \(scope)).")
        }
        return .init(
            "tracing", .warning,
            "Your programs can read each other's memory: not the daemon's, but that of any program that reads an item.",
            "'sysctl kernel.yama.ptrace_scope=1', and in /etc/sysctl.d.")
    }
}
