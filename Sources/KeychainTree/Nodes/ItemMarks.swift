import Keychain
import Synchronization

/// Facts about the item of a file that are used without the file's state.
final class ItemMarks: Sendable {
    private let isStale = Atomic<Bool>(false)
    /// The raw value of ``protection``; 0 for nil.
    private let protectionNumber = Atomic<UInt8>(0)

    /// The item's class; nil if it is unknown.
    var protection: ProtectionClass? {
        get { ProtectionClass(rawValue: protectionNumber.load(ordering: .acquiring)) }
        set { protectionNumber.store(newValue?.rawValue ?? 0, ordering: .releasing) }
    }

    /// Records that the item has been changed through another file than its own.
    func noteStale() {
        isStale.store(true, ordering: .releasing)
    }

    /// Returns whether that has been recorded since the last call.
    func takeStale() -> Bool {
        isStale.load(ordering: .relaxed) && isStale.exchange(false, ordering: .acquiringAndReleasing)
    }
}
