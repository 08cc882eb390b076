package import Synchronization

/// A keychain: items in service directories, sealed in a store, usable as far as the lock state allows.
///
/// Every method can be called by several threads. Reads throw ``KeychainFault/interactionNotAllowed`` for what the
/// lock state forbids and ``KeychainFault/decode`` for what is damaged; a change is atomic and durable when it returns.
package final class KeychainStore: Sendable {
    package let keys: KeyRing
    let store: any RecordStore
    let itemEnvelope: ItemEnvelope
    let directoryEnvelope: DirectoryEnvelope
    private let clock: @Sendable () -> KeychainDate
    private let lastRowID: Atomic<Int64>
    private let commits = Atomic<Int>(0)
    let cache = ItemCache()
    /// Whether each row that the cache returns is compared with the store, in debug builds. Set by tests that change a keychain at
    /// random, on one thread.
    package let comparesCache = Atomic(false)
    /// A container's key changes only when its group is renamed, so it is read once.
    private let containers = Mutex<[RowID: ContainerKey]>([:])

    /// Ids below this are left to what the tree shows beside rows.
    package static let firstRowID: Int64 = 100

    package init(
        store: any RecordStore, keys: KeyRing, clock: @escaping @Sendable () -> KeychainDate
    ) throws(KeychainFault) {
        self.store = store
        self.keys = keys
        self.clock = clock
        itemEnvelope = ItemEnvelope(ring: keys)
        directoryEnvelope = DirectoryEnvelope(ring: keys)
        let newest = try store.read { (reader) throws(KeychainFault) in try reader.newestRowID() }
        lastRowID = Atomic(max(newest.rawValue, Self.firstRowID - 1))
        keys.ledger.watch { [cache] in cache.invalidate($0) }
        store.watchExternalChanges { [weak self] in self?.forgetStore() }
    }

    /// Calls `body` with the rows that each transaction has changed, before any of its callers continues. `body` must not use the
    /// keychain.
    package func watchChanges(_ body: @escaping @Sendable (ChangedRows) -> Void) { keys.ledger.watch(body) }

    /// Another program has changed the store.
    private func forgetStore() {
        keys.ledger.invalidate(.all)
        containers.withLock { $0 = [:] }
        keys.verification.noteExternalChange()
    }

    /// Whether every change throws ``KeychainFault/readOnly``.
    package var isReadOnly: Bool { store.isReadOnly }

    /// Whether changes would be found again: false once the keychain's file has been moved, removed or replaced.
    package var isInPlace: Bool { store.isInPlace }

    /// Whether a change of that many bytes finds room on a disk with `available` bytes, now or once the store's log is
    /// emptied.
    ///
    /// Room has to be left for emptying the log and for deleting a value of `longest` bytes, which are overwritten through
    /// the log (secure_delete): else even a deletion would find none, for ever.
    package func hasSpace<Failure>(
        for count: Int, longest: Int, _ available: () throws(Failure) -> UInt64
    ) throws(Failure) -> Bool {
        func suffices(_ available: UInt64, growth: Int) -> Bool {
            // And the pages that a commit changes beside the value.
            let needed = growth + max(count, longest) + store.logBytes + 128 * 1024
            return available >= UInt64(clamping: needed)
        }
        if suffices(try available(), growth: count) { return true }
        try? store.truncateLog()
        return suffices(try available(), growth: max(0, count - store.freeBytes))
    }

    /// Makes what room the store can on a full disk; false if there is none to make.
    package func freesSpace() -> Bool {
        guard store.logBytes > 0 else { return false }
        return (try? store.truncateLog()) != nil
    }

    /// Now, by the clock that dates items.
    package func now() -> KeychainDate { clock() }

    /// A row number that nothing has had: what is created later under it stands there in listings from now on.
    package func reserveRowID() -> RowID {
        RowID(rawValue: lastRowID.add(1, ordering: .relaxed).newValue)
    }

    /// How many changes have been committed through this object.
    package var commitCount: Int { commits.load(ordering: .acquiring) }

    /// The key of a container's row, for the directories in it; nil where that lies in no container.
    ///
    /// Remembered as it was committed, by transactions alone: a read beside one may see what is about to be another.
    func containerKey(_ row: RowID, _ writer: any RecordWriter) throws(KeychainFault) -> ContainerKey? {
        guard !writer.hasChanged(row) else {
            _ = containers.withLock { $0.removeValue(forKey: row) }
            return try containerKey(row, readBy: writer)
        }
        if let key = containers.withLock({ $0[row] }) { return key }
        let key = try containerKey(row, readBy: writer)
        if let key { containers.withLock { $0[row] = key } }
        return key
    }

    /// The same, read anew.
    func containerKey(_ row: RowID, readBy reader: any RecordReader) throws(KeychainFault) -> ContainerKey? {
        guard let record = try reader.directory(id: row) else { return nil }
        switch try directoryEnvelope.open(record).key {
        case .container(let key): return key
        case .group: return nil
        case .service: throw .decode
        }
    }

    /// A container is about to get another key.
    func forgetContainerKey(_ row: RowID) {
        _ = containers.withLock { $0.removeValue(forKey: row) }
    }

    /// Takes away every key that is usable only while unlocked, and what was opened with it.
    package func lock() {
        keys.lock()
        cache.dropUnavailable(keys.isAvailable)
    }

    /// Wipes every key and closes the store.
    package func close() {
        keys.close()
        store.close()
    }

    /// Runs `body` in one transaction.
    package func change<Result>(
        _ body: (Transaction) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result {
        let result = try store.write(by: keys.ledger) { (writer) throws(KeychainFault) in
            try body(Transaction(keychain: self, writer: writer))
        }
        commits.add(1, ordering: .releasing)
        return result
    }
}

/// One entry of a listing.
package enum ListingEntry<Value: Sendable>: Sendable {
    case available(Value)
    /// There is a row, but the lock state forbids its name.
    case unavailable(RowID)
    /// There is a row that only another device can open.
    case foreign(RowID)
    /// There is a row, and it is not what was written.
    case damaged(RowID)
}
