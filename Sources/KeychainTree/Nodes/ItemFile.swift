import FileSystemCore
import Keychain
import SecretCrypto
import Synchronization

/// A file of an item: what descriptors and the kernel's node refer to.
///
/// The item in the store follows the name, the file follows POSIX: renaming one file over another gives the row of the
/// name to the file that comes (F5). Lock order: `KeychainTree.names`, then files by ``node``, then
/// ``ServiceDirectory/pending``, then `KeychainTree.table`, then the store. No lock is held while replying.
final class ItemFile: Sendable {
    let node: NodeID
    let state: Mutex<State>
    /// To be noted without the lock of ``state``.
    let staleness = Staleness()
    /// How often a lock has closed it: descriptors for reading from before answer ENOKEY, be it that their value is sealed
    /// under the class that the item had then.
    let closings = Atomic<Int>(0)

    struct State {
        /// That of the file.
        let node: NodeID
        /// The item's row; reserved but not yet in the store while ``isPending``.
        var row: RowID
        /// Where it lies; meaningless once detached.
        var directory: ServiceDirectory
        /// The item as last seen; nil if it has to be read. Never nil while pending or detached.
        var item: Item? {
            get { kept?.item }
            set { kept = newValue.map(KeptItem.init) }
        }
        private var kept: KeptItem?
        /// Longer attributes are read again for each question about a file that nobody has open. In bytes.
        private static let longAttributes = 1 << 10
        /// Nothing of it has been committed yet (F2).
        var isPending: Bool
        /// Unlinked or replaced: lives on through its descriptors only (F6).
        var isDetached: Bool { detachedValue != nil }
        /// It was detached before its first commit.
        var isNeverCommitted = false
        /// The committed value of a detached file; nil for one that has a name.
        var detachedValue: DetachedValue?
        /// The committed value, as long as some descriptor has it: they all have the same one.
        weak var openedSecret: SealedSecret?
        /// The committed value that descriptors for writing with nothing staged have open: the API may delete the item at any
        /// time, and tells when that is done (F6).
        var openValue: SealedSecret?
        /// What was set on a name that nothing had been committed of when an item came to it: goes over to that item with the
        /// next commit, as if the file had been renamed over it.
        var adopted: Item?
        var stagedValue: StagedValue? {
            didSet { if stagedValue == nil, oldValue?.state.isUncommitted == true { cuts += 1 } }
        }
        /// How often its size may have become smaller: truncated, or what was staged dropped. What the kernel caps to the
        /// size that it knows is whole only where that has not happened.
        var cuts = 0
        /// WhenUnlockedUnlessOpen: the committed value while the file is open, for the time of a lock; nil if unknown.
        var keptValue: KeptValue?
        /// What its name stood for, which this item goes on with from its first commit on (F5).
        var freed: FreedName?
        let staleness: Staleness
        /// How often a lock has taken away what was staged: descriptors from before answer ENOKEY (L2).
        var losses = 0
        /// The user to whom ``openValue`` and ``keptValue`` are charged.
        var user: UInt32 = 0
        /// For attributes of a file without a committed item, which are nowhere but in memory.
        var attributeCharge: MemoryCharge?
        /// Open descriptors that can write.
        var writerCount = 0
        /// Something was read through the kernel's page cache since its pages were dropped.
        var mayHavePages = false
        /// Open descriptors of any kind.
        var openCount = 0

        init(
            node: NodeID, row: RowID, directory: ServiceDirectory, item: Item?, isPending: Bool, staleness: Staleness
        ) {
            self.node = node
            self.row = row
            self.directory = directory
            kept = item.map(KeptItem.init)
            self.isPending = isPending
            self.staleness = staleness
        }

        /// Whether an open for reading gets what is staged: there is no committed value, or, where there is nothing to commit
        /// to any more, its writers have closed it (F2, F6).
        var readsStaged: Bool {
            guard let stagedValue else { return false }
            return isPending || isDetached && (isNeverCommitted || !stagedValue.state.isUncommitted)
        }

        /// Whether nothing is known of it but what the store can tell. Something may still be known of its descriptors.
        var isIdle: Bool {
            openCount == 0 && writerCount == 0 && !isPending && !isDetached && stagedValue == nil && openValue == nil
                && adopted == nil && keptValue == nil && freed == nil && !mayHavePages
        }

        /// Of a file that nobody has open an item with long attributes is not kept: there may be thousands, of 64 KiB each.
        mutating func forgetLongAttributes() {
            guard let kept, kept.attributeBytes > Self.longAttributes, openCount == 0, stagedValue == nil, !isPending,
                !isDetached
            else { return }
            self.kept = nil
        }

        /// Whether there is staged content that differs from what is committed.
        var hasUncommitted: Bool { stagedValue?.state.isUncommitted == true }

        /// The classes whose keys its contents need: its own, and until its first commit that of what it goes on with.
        func protections(_ item: Item) -> [ProtectionClass] {
            [item.protection] + (isPending ? freed.map { [$0.former.protection] } ?? [] : [])
        }
    }

    /// An item on the heap: most files have none, and their state is to be small.
    private final class KeptItem: Sendable {
        let item: Item
        let attributeBytes: Int

        init(_ item: Item) {
            self.item = item
            attributeBytes = item.attributeBytes
        }
    }

    init(node: NodeID, row: RowID, directory: ServiceDirectory, item: Item?, isPending: Bool = false) {
        self.node = node
        state = Mutex(
            State(
                node: node, row: row, directory: directory, item: item, isPending: isPending, staleness: staleness))
    }
}

/// The committed value of a file whose row is gone.
enum DetachedValue {
    /// Nil for an item without a secret.
    case kept(SealedSecret?)
    /// Gone with the row, taken by a lock, or that of a creation that was dropped.
    case lost
}

/// Whether an item has been changed through another file than its own.
final class Staleness: Sendable {
    private let isStale = Atomic<Bool>(false)

    func note() {
        isStale.store(true, ordering: .releasing)
    }

    /// Whether it was noted since this was last asked.
    func take() -> Bool {
        isStale.load(ordering: .relaxed) && isStale.exchange(false, ordering: .acquiringAndReleasing)
    }
}
