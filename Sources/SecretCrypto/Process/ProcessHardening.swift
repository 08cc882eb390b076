import CSodium
import Glibc

/// What keeps the memory of this process out of files: contract H1, H6.
package enum ProcessHardening {
    /// What holds, measured each time; not what was asked for.
    package struct Report: Hashable, Sendable {
        /// The shared arena is locked (mlock(2)).
        package let memoryLocked: Bool
        /// No core dump, no ptrace and no /proc/self/mem by the same user (PR_SET_DUMPABLE, prctl(2)).
        package let undumpable: Bool
        /// RLIMIT_CORE is 0, and cannot be raised without privilege (setrlimit(2)).
        package let coreDumpsDisabled: Bool
        /// Nothing runs when the process crashes: SIGSEGV and SIGABRT have their default action, so that Swift's
        /// runtime prints no registers and no memory.
        package let crashReportsOff: Bool
        /// A block that was freed comes back without what it held (CWipingMalloc is in force).
        package let allocatorWipes: Bool

        /// Whether all of it holds.
        package var isComplete: Bool {
            memoryLocked && undumpable && coreDumpsDisabled && crashReportsOff && allocatorWipes
        }
    }

    /// Asks the kernel for all of it and reports what it gave. As often as one likes; not undone before exit. An exec
    /// resets the first two, a fork the lock of the arena.
    @discardableResult
    package static func apply() -> Report {
        _ = csodium_set_dumpable(0)
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        return report()
    }

    /// What holds now.
    package static func report() -> Report {
        var core = rlimit()
        let isKnown = unsafe getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &core) == 0
        return Report(
            memoryLocked: SecretArena.shared.isLocked,
            undumpable: csodium_get_dumpable() == 0,
            coreDumpsDisabled: isKnown && core.rlim_cur == 0 && core.rlim_max == 0,
            crashReportsOff: [SIGSEGV, SIGABRT, SIGILL].allSatisfy(hasDefaultAction),
            allocatorWipes: csodium_allocator_wipes() != 0)
    }

    private static func hasDefaultAction(_ signal: Int32) -> Bool {
        var action = sigaction()
        return unsafe sigaction(signal, nil, &action) == 0 && action.__sigaction_handler.sa_handler == nil
    }
}
