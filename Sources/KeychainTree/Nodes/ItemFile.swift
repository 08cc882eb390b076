import FileSystemCore
import Keychain
import SecretCrypto
import Synchronization

/// The file of an item, to which descriptors and the kernel's node refer.
///
/// The item in the store follows the name, the file follows POSIX: renaming one file over another gives the row of the
/// name to the renamed file (F5). Lock order: `KeychainFileSystem.names`, then files by ``node``, then
/// ``ServiceDirectory/pending``, then `KeychainFileSystem.table`, then the store. No lock is held while replying.
final class ItemFile: Sendable {
    let node: NodeID
    let state: YieldingMutex<State>
    /// Set without locking ``state``.
    let staleness = Staleness()
    /// The number of locks that have closed the file. Descriptors for reading from before fail with ENOKEY, even if
    /// their value is sealed under the former class of the item.
    let lockClosures = Atomic<Int>(0)

    struct State {
        /// The node of the file.
        let node: NodeID
        /// The item's row; reserved but not yet in the store while ``isPending``.
        var row: RowID
        /// The directory of the file; meaningless once detached.
        var directory: ServiceDirectory
        /// The cached item; nil if it must be read. Never nil while pending or detached.
        var item: Item? {
            get { kept?.item }
            set { kept = newValue.map(KeptItem.init) }
        }
        private var kept: KeptItem?
        /// The size in bytes above which attributes of a file that is not open are not cached.
        private static let longAttributes = 1 << 10
        /// Whether no part of it has been committed yet (F2).
        var isPending: Bool
        /// Whether it was unlinked or replaced, so that only its descriptors refer to it (F6).
        var isDetached: Bool { detachedValue != nil }
        /// Whether it was detached before its first commit.
        var isNeverCommitted = false
        /// The committed value of a detached file; nil for one with a name.
        var detachedValue: DetachedValue?
        /// The committed value while a descriptor has it. All descriptors share it.
        weak var openedSecret: SealedSecret?
        /// The committed value that descriptors for writing without a staged value have open. The API may delete the
        /// item at any time, and notifies afterwards (F6).
        var openValue: SealedSecret?
        /// The attributes that were set on a pending name when an item of the API got that name. The next commit
        /// transfers them to that item, as if the file had been renamed over it.
        var adopted: Item?
        var stagedValue: StagedValue? {
            didSet { if stagedValue == nil, oldValue?.state.isUncommitted == true { truncations += 1 } }
        }
        /// The number of times that the size may have become smaller: truncated, or the staged value dropped. A request
        /// that the kernel limits to the size that it knows is complete only if this has not changed.
        var truncations = 0
        /// WhenUnlockedUnlessOpen: the committed value of an open file, kept during a lock; nil if unknown.
        var keptValue: KeptValue?
        /// The freed name whose item this file continues from its first commit on (F5).
        var freed: FreedName?
        let staleness: Staleness
        /// The number of times that a lock has discarded the staged value. Descriptors from before fail with ENOKEY
        /// (L2).
        var discards = 0
        /// The user to whom ``openValue`` and ``keptValue`` are charged.
        var user: UInt32 = 0
        /// The charge for attributes of a file without a committed item, which exist only in memory.
        var attributeCharge: MemoryCharge?
        /// The number of open descriptors for writing.
        var writerCount = 0
        /// The lock owners that processes had which a signal has ended, while a descriptor for writing is open. Such a process may
        /// leave asynchronous writes (io_uring) behind, which arrive after its FLUSH.
        var killedOwners: [LockOwner: ProcessIdentity] = [:]
        /// Whether data was read through the kernel's page cache since its pages were dropped.
        var mayHavePages = false
        /// The number of open descriptors.
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

        /// Whether an open for reading gets the staged value: there is no committed one or, if nothing can be committed
        /// any more, its writers have closed it (F2, F6).
        var readsStaged: Bool {
            guard let stagedValue else { return false }
            return isPending || isDetached && (isNeverCommitted || !stagedValue.state.isUncommitted)
        }

        /// Whether the store contains everything that is known of the file, apart from its descriptors.
        var isIdle: Bool {
            openCount == 0 && writerCount == 0 && !isPending && !isDetached && stagedValue == nil && openValue == nil
                && adopted == nil && keptValue == nil && freed == nil && !mayHavePages
        }

        /// Drops an item with long attributes if the file is not open, because there may be thousands with 64 KiB each.
        mutating func forgetLongAttributes() {
            guard let kept, kept.attributeBytes > Self.longAttributes, openCount == 0, stagedValue == nil, !isPending,
                !isDetached
            else { return }
            self.kept = nil
        }

        /// Whether the staged value differs from the committed one.
        var hasUncommitted: Bool { stagedValue?.state.isUncommitted == true }

        /// Returns the classes whose keys its contents need: its own class and, until its first commit, that of the
        /// item that it continues.
        func protections(_ item: Item) -> [ProtectionClass] {
            [item.protection] + (isPending ? freed.map { [$0.former.protection] } ?? [] : [])
        }
    }

    /// An item on the heap, because most files do not have one and their state should be small.
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
        state = YieldingMutex(
            State(
                node: node, row: row, directory: directory, item: item, isPending: isPending, staleness: staleness))
    }

    /// Locks both files, in the order of their nodes.
    static func withBoth<Failure>(
        _ first: ItemFile, _ second: ItemFile,
        _ body: (inout State, inout State) throws(Failure) -> Void
    ) throws(Failure) {
        if first.node.rawValue < second.node.rawValue {
            try first.state.withLock { (a) throws(Failure) in
                try second.state.withLock { (b) throws(Failure) in try body(&a, &b) }
            }
        } else {
            try second.state.withLock { (b) throws(Failure) in
                try first.state.withLock { (a) throws(Failure) in try body(&a, &b) }
            }
        }
    }
}

/// The committed value of a file whose row has been deleted.
enum DetachedValue {
    /// The value; nil for an item without a secret.
    case kept(SealedSecret?)
    /// Lost: deleted with the row, wiped by a lock, or that of a dropped creation.
    case lost
}

/// Whether an item has been changed through another file than its own.
final class Staleness: Sendable {
    private let isStale = Atomic<Bool>(false)

    func note() {
        isStale.store(true, ordering: .releasing)
    }

    /// Returns whether the flag was set since the last call, and clears it.
    func take() -> Bool {
        isStale.load(ordering: .relaxed) && isStale.exchange(false, ordering: .acquiringAndReleasing)
    }
}
