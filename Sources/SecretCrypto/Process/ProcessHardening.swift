import CSodium
import Glibc

/// Keeps the memory of this process out of files (contract, H1, H6).
package enum ProcessHardening {
    /// The protections in force, measured when the report is created.
    package struct Report: Hashable, Sendable {
        /// Whether the shared arena is locked (mlock(2)).
        package let memoryLocked: Bool
        /// Whether core dumps, ptrace and /proc/self/mem are denied to the same user (PR_SET_DUMPABLE, prctl(2)).
        package let undumpable: Bool
        /// Whether RLIMIT_CORE is 0 and cannot be raised without privilege (setrlimit(2)).
        package let coreDumpsDisabled: Bool
        /// Whether SIGSEGV and SIGABRT have their default action, so that Swift's runtime prints no registers and no
        /// memory.
        package let crashReportsOff: Bool
        /// Whether a freed block is wiped before it is reused (CWipingMalloc).
        package let allocatorWipes: Bool

        /// Whether all protections are in force.
        package var isComplete: Bool {
            memoryLocked && undumpable && coreDumpsDisabled && crashReportsOff && allocatorWipes
        }
    }

    /// Enables all protections and reports which of them are in force. May be called repeatedly.
    ///
    /// The protections last until exit. exec(2) resets the first two; fork(2) drops the lock of the arena.
    @discardableResult
    package static func apply() -> Report {
        denyAccess()
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        return report()
    }

    /// Disables core dumps, and access by other processes of the same user, until exec(2) (PR_SET_DUMPABLE, prctl(2)).
    package static func denyAccess() { _ = csodium_set_dumpable(0) }

    /// Returns the protections in force.
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
