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
    fileprivate let state: YieldingMutex<State>
    /// Used without locking ``state``.
    let marks = ItemMarks()
    /// The number of locks that have closed the file. Descriptors for reading from before fail with ENOKEY, even if
    /// their value is sealed under the former class of the item.
    let lockClosures = Atomic<Int>(0)
    fileprivate let missedLocks = MissedLocks()

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
            set {
                kept = newValue.map(KeptItem.init)
                markProtection()
            }
        }
        private var kept: KeptItem?
        /// The class of the item in the store when it was last read or committed; nil if it may have changed since.
        private(set) var storedProtection: ProtectionClass?
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
        let marks: ItemMarks
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
            node: NodeID, row: RowID, directory: ServiceDirectory, item: Item?, isPending: Bool, marks: ItemMarks
        ) {
            self.node = node
            self.row = row
            self.directory = directory
            kept = item.map(KeptItem.init)
            storedProtection = isPending ? nil : item?.protection
            self.isPending = isPending
            self.marks = marks
            markProtection()
        }

        private func markProtection() { marks.protection = kept?.protection ?? storedProtection }

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
            item = nil
        }

        /// Sets the item, which the store contains with the class `stored`.
        mutating func setItem(_ item: Item, stored: ProtectionClass) {
            storedProtection = stored
            self.item = item
        }

        /// Drops the item after it has been changed elsewhere.
        mutating func forgetItem() {
            storedProtection = nil
            item = nil
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
        let protection: ProtectionClass

        init(_ item: Item) {
            self.item = item
            protection = item.protection
            attributeBytes = item.attributeBytes
        }
    }

    init(node: NodeID, row: RowID, directory: ServiceDirectory, item: Item?, isPending: Bool = false) {
        self.node = node
        state = YieldingMutex(
            State(
                node: node, row: row, directory: directory, item: item, isPending: isPending, marks: marks))
    }

    /// The directory of a file that is not in use, if the store contains everything that is known of it; nil otherwise.
    var idleDirectory: ServiceDirectory? {
        state.withLockIfAvailable { $0.isIdle && missedLocks.isEmpty ? $0.directory : nil } ?? nil
    }

    // MARK: Locks of the keychain

    /// The effect of a lock on a file.
    enum LockEffect {
        /// The lock has been applied.
        case complete
        /// The next thread with the state applies it. The caller must wait for the state if `isAwaited` is false.
        case missed(isAwaited: Bool)
    }

    /// Closes the file for descriptors for reading if its class is unavailable, as far as that is known without the
    /// state.
    fileprivate func close(_ unavailable: ProtectionClasses) {
        if let known = marks.protection, !unavailable.contains(known) || known == .whenUnlockedUnlessOpen { return }
        lockClosures.add(1, ordering: .releasing)
    }
}

/// The only ways to the state of a file: locks that it has missed are applied before anything else.
extension KeychainFileSystem {
    func withState<Result: ~Copyable, Failure: Error>(
        of file: ItemFile, _ body: (inout ItemFile.State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try file.state.withLock { (state) throws(Failure) in try use(&state, of: file, body) }
    }

    /// Runs `body` if no other thread has the state or waits for it; returns nil otherwise.
    func withStateIfAvailable<Result: ~Copyable, Failure: Error>(
        of file: ItemFile, _ body: (inout ItemFile.State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        try file.state.withLockIfAvailable { (state) throws(Failure) in try use(&state, of: file, body) }
    }

    /// Locks both files, in the order of their nodes.
    func withStates<Failure>(
        of first: ItemFile, _ second: ItemFile,
        _ body: (inout ItemFile.State, inout ItemFile.State) throws(Failure) -> Void
    ) throws(Failure) {
        if first.node.rawValue < second.node.rawValue {
            try withState(of: first) { (a) throws(Failure) in
                try withState(of: second) { (b) throws(Failure) in try body(&a, &b) }
            }
        } else {
            try withState(of: second) { (b) throws(Failure) in
                try withState(of: first) { (a) throws(Failure) in try body(&a, &b) }
            }
        }
    }

    private func use<Result: ~Copyable, Failure: Error>(
        _ state: inout ItemFile.State, of file: ItemFile,
        _ body: (inout ItemFile.State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        if let unavailable = file.missedLocks.take() { apply(unavailable, to: file, &state) }
        return try body(&state)
    }

    /// Applies a lock to a file without waiting for its state.
    func apply(_ unavailable: ProtectionClasses, to file: ItemFile) -> ItemFile.LockEffect {
        // First, so that a thread that gets the state afterwards applies it.
        file.missedLocks.note(unavailable)
        if withStateIfAvailable(of: file, { _ in }) != nil { return .complete }
        file.close(unavailable)
        return .missed(isAwaited: !file.missedLocks.await())
    }
}

/// The committed value of a file whose row has been deleted.
enum DetachedValue {
    /// The value; nil for an item without a secret.
    case kept(SealedSecret?)
    /// Lost: deleted with the row, wiped by a lock, or that of a dropped creation.
    case lost
}
