import Keychain
import Synchronization

/// The locks that could not be applied to a file, because a thread that may wait for a disk had its state.
///
/// The next thread that locks the state applies them first.
struct MissedLocks: ~Copyable, Sendable {
    /// Set while a thread waits for the state in order to apply them. No class has this number.
    private static let isAwaited: UInt16 = 1 << 15

    private let bits = Atomic<UInt16>(0)

    /// Adds the classes that a lock has made unavailable.
    func note(_ classes: ProtectionClasses) {
        bits.bitwiseOr(classes.bits, ordering: .sequentiallyConsistent)
    }

    /// Records that a thread is about to wait for the state. Returns false if another one does already.
    func await() -> Bool {
        bits.bitwiseOr(Self.isAwaited, ordering: .acquiringAndReleasing).oldValue & Self.isAwaited == 0
    }

    /// Returns the classes that the locks have made unavailable, and forgets the locks; nil without any.
    ///
    /// - Precondition: The calling thread has the state.
    func take() -> ProtectionClasses? {
        guard bits.load(ordering: .sequentiallyConsistent) != 0 else { return nil }
        // None if another thread has applied them before one began to wait.
        let classes = bits.exchange(0, ordering: .acquiringAndReleasing) & ~Self.isAwaited
        return classes == 0 ? nil : ProtectionClasses(bits: classes)
    }

    var isEmpty: Bool { bits.load(ordering: .acquiring) == 0 }
}
