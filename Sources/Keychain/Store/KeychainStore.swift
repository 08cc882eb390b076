package import Synchronization

/// A keychain: items in service directories, sealed in a store, usable according to the lock state.
///
/// Thread-safe. Reads throw ``KeychainFault/interactionNotAllowed`` if the lock state forbids them and
/// ``KeychainFault/decode`` for damaged rows. A change is atomic, and durable on return.
package final class KeychainStore: Sendable {
    package let keys: KeyRing
    let store: any RecordStore
    let itemEnvelope: ItemEnvelope
    let directoryEnvelope: DirectoryEnvelope
    let pastEnvelope: PastEnvelope
    private let clock: @Sendable () -> KeychainDate
    private let commits = Atomic<Int>(0)
    let cache = ItemCache()
    /// Whether each row that the cache returns is compared with the store, in debug builds. Set by tests that change a
    /// keychain at random, on one thread.
    package let comparesCache = Atomic(false)
    /// The keys of containers, which change only when their group is renamed, with the row of the group.
    private let containers = Mutex<[RowID: (key: ContainerKey, group: RowID)]>([:])

    package init(
        store: any RecordStore, keys: KeyRing, clock: @escaping @Sendable () -> KeychainDate
    ) {
        self.store = keys.lacksWriterFeature ? ReadOnlyRecordStore(store) : store
        self.keys = keys
        self.clock = clock
        itemEnvelope = ItemEnvelope(ring: keys)
        directoryEnvelope = DirectoryEnvelope(ring: keys)
        pastEnvelope = PastEnvelope(ring: keys)
        keys.ledger.setClock(clock)
        keys.ledger.watch { [cache] in cache.invalidate($0) }
        let isFirst = Atomic(true)
        keys.watch { [cache] lock in
            // Rows that were read before the first unlock were not verified.
            if lock == .unlocked, isFirst.exchange(false, ordering: .relaxed) { cache.dropAll() }
        }
        store.watchExternalChanges { [weak self] in self?.forgetStore() }
    }

    /// Calls `body` with the rows that each transaction has changed, before any of its callers continues. `body` must
    /// not use the keychain.
    package func watchChanges(_ body: @escaping @Sendable (ChangedRows) -> Void) { keys.ledger.watch(body) }

    /// Drops all cached state, because another program has changed the store.
    private func forgetStore() {
        keys.ledger.invalidate(.all)
        containers.withLock { $0 = [:] }
        keys.rekeying.noteExternalChange()
        keys.verification.noteExternalChange()
    }

    /// Whether every change throws ``KeychainFault/readOnly``.
    package var isReadOnly: Bool { store.isReadOnly }

    /// Whether changes would be found again; false once the keychain's file has been moved, removed or replaced.
    package var isInPlace: Bool { store.isInPlace }

    /// Whether a change of `count` bytes fits on a disk with `available` bytes, now or after truncating the store's
    /// log.
    ///
    /// Space must remain for truncating the log and for deleting a value of `longest` bytes, which is overwritten
    /// through the log (secure_delete); otherwise even a deletion would fail permanently.
    package func hasSpace<Failure>(
        for count: Int, longest: Int, _ available: () throws(Failure) -> UInt64
    ) throws(Failure) -> Bool {
        func suffices(_ available: UInt64, growth: Int) -> Bool {
            // Includes the pages that a commit changes besides the value.
            let needed = growth + max(count, longest) + store.logBytes + 128 * 1024
            return available >= UInt64(clamping: needed)
        }
        if suffices(try available(), growth: count) { return true }
        try? store.truncateLog()
        return suffices(try available(), growth: max(0, count - store.freeBytes))
    }

    /// Frees space on a full disk, if the store can. Returns whether it did.
    package func freesSpace() -> Bool {
        guard store.logBytes > 0 else { return false }
        return (try? store.truncateLog()) != nil
    }

    /// Returns the present time of the clock that dates items.
    package func now() -> KeychainDate { clock() }

    /// Returns an unused row number, which determines the position in listings of an item that is created with it.
    ///
    /// - Throws: `interactionNotAllowed` before the first unlock.
    package func reserveRowID() throws(KeychainFault) -> RowID { try keys.ledger.reserveRowID() }

    /// The number of transactions that have been committed through this object.
    package var commitCount: Int { commits.load(ordering: .acquiring) }

    /// Returns the key of a container's row, for the directories in it; nil if the row is not a container.
    ///
    /// Cached only by transactions, because a concurrent read may see a state that is about to change.
    func containerKey(_ row: RowID, _ writer: any RecordWriter) throws(KeychainFault) -> ContainerKey? {
        if let known = containers.withLock({ $0[row] }), !writer.hasChanged(row), !writer.hasChanged(known.group) {
            return known.key
        }
        let found = try container(row, readBy: writer)
        let isChanged = writer.hasChanged(row) || found.map { writer.hasChanged($0.group) } ?? false
        containers.withLock { $0[row] = isChanged ? nil : found }
        return found?.key
    }

    /// Reads the key of a container's row.
    func containerKey(_ row: RowID, readBy reader: any RecordReader) throws(KeychainFault) -> ContainerKey? {
        try container(row, readBy: reader)?.key
    }

    private func container(
        _ row: RowID, readBy reader: any RecordReader
    ) throws(KeychainFault) -> (key: ContainerKey, group: RowID)? {
        guard let record = try reader.directory(id: row) else { return nil }
        switch try directoryEnvelope.open(record).key {
        case .container(let scope):
            let group = try accessGroup(record.parent, readBy: reader)
            return (ContainerKey(scope, accessGroup: group), record.parent)
        case .group, .unsupported: return nil
        case .service: throw .decode
        }
    }

    /// Returns the name of a group.
    ///
    /// - Throws: `decode` for a missing row, and for a row that is not a group.
    private func accessGroup(_ row: RowID, readBy reader: any RecordReader) throws(KeychainFault) -> [UInt8] {
        guard row != .none else { return ContainerKey.defaultAccessGroup }
        guard let record = try reader.directory(id: row), case .group(let name) = try directoryEnvelope.open(record).key
        else { throw .decode }
        return name
    }

    /// Removes the cached key of a container, which is about to change.
    func forgetContainerKey(_ row: RowID) {
        _ = containers.withLock { $0.removeValue(forKey: row) }
    }

    /// Removes the cached keys of the containers of a group, which is about to get another name.
    func forgetContainerKeys(of group: RowID) {
        containers.withLock { $0 = $0.filter { $0.value.group != group } }
    }

    /// Locks: revokes every key that is usable only while unlocked, and drops data that was opened with it.
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

/// An entry of a listing.
package enum ListingEntry<Value: Sendable>: Sendable {
    case available(Value)
    /// A row whose name cannot be opened because of the lock state.
    case unavailable(RowID)
    /// A row that only another device can open.
    case foreign(RowID)
    /// A row that is not authentic.
    case damaged(RowID)
}
