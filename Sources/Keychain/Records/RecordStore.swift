/// Reads of one consistent state of the store. All lookups are O(log n).
package protocol RecordReader: PastRecordReader {
    func store() throws(KeychainFault) -> StoreRecord
    func slots() throws(KeychainFault) -> [SlotRecord]
    func devices() throws(KeychainFault) -> [DeviceRecord]
    func classKeys() throws(KeychainFault) -> [ClassKeyRecord]
    /// Returns the past user keys in the order of their generations.
    func userKeys() throws(KeychainFault) -> [UserKeyRecord]
    /// Returns the number of malformed rows of slots, devices and keys, which other functions ignore.
    func damagedKeys() throws(KeychainFault) -> DamagedKeys

    func directory(id: RowID) throws(KeychainFault) -> DirectoryRecord?
    /// Returns a directory by its tag or its Always tag.
    ///
    /// - Throws: ``KeychainFault/decode`` if an index refers to a row with another tag.
    func directory(tag: [UInt8], always: Bool) throws(KeychainFault) -> DirectoryRecord?
    /// Returns at most `limit` directories with IDs greater than `after`, in the order of IDs.
    func directories(parent: RowID, after: RowID, limit: Int) throws(KeychainFault) -> [DirectoryRecord]

    /// Returns only IDs, to identify the rows of a listing in which one cannot be decoded.
    func directoryIDs(parent: RowID, after: RowID, limit: Int) throws(KeychainFault) -> [RowID]
    /// Returns the IDs of directories with any parent.
    func directoryIDs(after: RowID, limit: Int) throws(KeychainFault) -> [RowID]
    /// Returns at most `limit` directories of all parents with IDs greater than `after`, in the order of IDs.
    func directories(after: RowID, limit: Int) throws(KeychainFault) -> [DirectoryRecord]
    /// Whether a directory with that parent has an Always tag.
    func holdsAlwaysDirectory(_ parent: RowID) throws(KeychainFault) -> Bool

    func item(id: RowID) throws(KeychainFault) -> ItemRecord?
    /// Returns an item by its tag or its Always tag.
    ///
    /// - Throws: ``KeychainFault/decode`` if an index refers to a row with another tag.
    func item(tag: [UInt8], always: Bool) throws(KeychainFault) -> ItemRecord?
    /// Returns at most `limit` items with IDs greater than `after`, in the order of IDs.
    func items(directory: RowID, after: RowID, limit: Int) throws(KeychainFault) -> [ItemRecord]
    /// Returns only IDs, to identify the rows of a listing in which one cannot be decoded.
    func itemIDs(directory: RowID, after: RowID, limit: Int) throws(KeychainFault) -> [RowID]
    /// Returns at most `limit` items of all directories with IDs greater than `after`, in the order of IDs.
    func items(after: RowID, limit: Int) throws(KeychainFault) -> [ItemRecord]
    /// Returns only the IDs of items of all directories.
    func itemIDs(after: RowID, limit: Int) throws(KeychainFault) -> [RowID]
    /// Returns an item and the ciphertext of its secret, as ``secret(of:)`` does, in one lookup.
    func itemWithSecret(id: RowID) throws(KeychainFault) -> (item: ItemRecord, secret: [UInt8])?
    /// Whether an item of that directory has an Always tag.
    func holdsAlwaysItem(_ directory: RowID) throws(KeychainFault) -> Bool
    /// Returns the classes and generations of the items in a directory and below it, each once. O(items).
    func itemClasses(below directory: RowID) throws(KeychainFault) -> [(protection: ProtectionClass, generation: Int64)]
    /// Returns the IDs of rows that were sealed while locked (``ItemRecord/ephemeral``), in the order of IDs.
    func ephemeralItems(after: RowID, limit: Int) throws(KeychainFault) -> [RowID]
    /// Returns the ciphertext of the item's secret, with all chunks in order; empty for an item without a secret, and if
    /// it has two ciphertexts or one that is not where its size puts it.
    func secret(of item: RowID) throws(KeychainFault) -> [UInt8]

    /// Returns the number of items. O(n).
    func itemCount() throws(KeychainFault) -> Int
    func directoryCount() throws(KeychainFault) -> Int
    /// Returns the number of items under each of those keys, without keys that no item uses. O(n).
    func itemCounts(of generations: Set<KeyGeneration>) throws(KeychainFault) -> [KeyGeneration: Int]
    /// Returns those of the keys that items or past values use. O(n).
    func usedKeys(of generations: Set<KeyGeneration>) throws(KeychainFault) -> Set<KeyGeneration>
    /// Returns the numbers of rows under old keys. O(n).
    func rowCounts(of old: OldKeys) throws(KeychainFault) -> OldRowCounts
    /// Returns at most `limit` IDs of items under old class keys, or with a MAC under old master keys, that are greater
    /// than `after`, in the order of IDs, including rows that cannot be decoded. May read every item after `after`.
    func itemIDs(of old: OldKeys, after: RowID, limit: Int) throws(KeychainFault) -> [RowID]
    /// Returns at most `limit` IDs of directories under old master keys, likewise.
    func directoryIDs(of old: OldKeys, after: RowID, limit: Int) throws(KeychainFault) -> [RowID]
    /// Returns at most `limit` IDs of items of a class, in any order. O(n).
    func itemIDs(of protection: ProtectionClass, limit: Int) throws(KeychainFault) -> [RowID]
    /// Returns a number of at least `next` that new rows may have: it and the numbers after it are those of no row.
    ///
    /// If a damaged row has a number that leaves none for others, the first one that ``RowID/tableCapacity`` unused
    /// numbers follow.
    func firstUnusedRowID(from next: RowID) throws(KeychainFault) -> RowID
    /// Returns the number of rows of directories, items, past values and long secrets with one of these numbers.
    func rowCount(_ ids: ClosedRange<RowID>) throws(KeychainFault) -> Int

    /// Searches each index for at most `limit` rows of a table with numbers greater than `after`, in the order of
    /// numbers. With a limit of 1, an unreadable index does not prevent the search in the others.
    func indexedRows(_ table: IndexedTable, after: RowID, limit: Int) throws(KeychainFault) -> IndexedRows
    /// Compares at most `limit` entries of one index after a position with their rows. An entry that is out of order
    /// ends its index.
    func indexEntries(after position: IndexPosition, limit: Int) throws(KeychainFault) -> IndexEntries
    /// Returns groups of rows that share a tag, in the order of numbers. Empty unless an index has missed a row. O(n).
    func rowsOfSharedTags(_ table: IndexedTable) throws(KeychainFault) -> [[RowID]]
}

/// Changes within one transaction, which its reads see.
package protocol RecordWriter: RecordReader, PastRecordWriter {
    /// Inserts the row, or replaces the row with the same ID (for a class key: the same purpose, generation, device and
    /// wrapping).
    func put(_ store: StoreRecord) throws(KeychainFault)
    /// Changes the header in the store's record, which exists.
    func put(_ header: Sealed) throws(KeychainFault)
    func put(_ slot: SlotRecord) throws(KeychainFault)
    func put(_ device: DeviceRecord) throws(KeychainFault)
    func put(_ key: ClassKeyRecord) throws(KeychainFault)
    func put(_ key: UserKeyRecord) throws(KeychainFault)
    /// - Throws: ``KeychainFault/duplicateItem`` for a tag of another row.
    func put(_ directory: DirectoryRecord) throws(KeychainFault)
    /// A nil `secret` keeps the present ciphertext. A ciphertext of more than ``ItemRecord/longestShortSecret`` bytes
    /// needs ``ItemRecord/secretRow``, a shorter one has none: otherwise ``KeychainFault/param``.
    ///
    /// - Throws: ``KeychainFault/duplicateItem`` for a tag of another row.
    func put(_ item: ItemRecord, secret: [UInt8]?) throws(KeychainFault)

    /// A missing row is not an error.
    func deleteSlot(_ id: Int64) throws(KeychainFault)
    func deleteClassKey(_ key: ClassKeyRecord) throws(KeychainFault)
    func deleteUserKey(_ generation: Int64) throws(KeychainFault)
    func deleteDirectory(_ id: RowID) throws(KeychainFault)
    /// Deletes an item with its secret and its item keys.
    func deleteItem(_ id: RowID) throws(KeychainFault)

    /// Rebuilds every index from the rows.
    ///
    /// `separate` is called while there is no index, so that its writer searches the tables. No two rows may share a
    /// tag afterwards: ``KeychainFault/duplicateItem``.
    func rebuildIndexes(
        _ separate: (any RecordWriter) throws(KeychainFault) -> Void
    ) throws(KeychainFault)

    /// Whether this transaction has set a directory's modification time, and nothing has changed the row since. All
    /// changes of several callers in one directory become visible at the same time.
    func hasTouched(_ directory: RowID) -> Bool
    /// Records that this transaction has set a directory's modification time.
    func noteTouched(_ directory: RowID)
    /// Whether this transaction has changed a directory's row.
    func hasChanged(_ directory: RowID) -> Bool
}

extension RecordWriter {
    package func hasTouched(_ directory: RowID) -> Bool { false }
    package func noteTouched(_ directory: RowID) {}
    package func hasChanged(_ directory: RowID) -> Bool { true }
}

/// A hook at the end of a transaction, called once for all callers that share it.
///
/// One object per store. The store calls it on one thread at a time, and not during an exclusive read.
package protocol TransactionEnding: Sendable {
    /// Called before a transaction begins the log of the store. An error fails it and leaves the log empty: a page of a copy
    /// that another program has written over the store would replace that of the right copy, once it is written back.
    func willBeginLog(_ reader: any RecordReader) throws(KeychainFault)
    /// Called once in each transaction that changes data, after the last caller's write. An error fails all of them.
    func willCommit(_ writer: any RecordWriter) throws(KeychainFault)
    /// Called when the transaction is durable or has been rolled back.
    func didEnd(isCommitted: Bool)
}

/// A store of sealed records, which never has access to keys or plaintexts. Thread-safe.
package protocol RecordStore: Sendable {
    /// Whether ``write(_:)`` throws ``KeychainFault/readOnly``.
    var isReadOnly: Bool { get }
    /// Whether changes would be found again; false once the store has been moved or removed.
    var isInPlace: Bool { get }
    /// Runs `body` on a snapshot of durable data. It may not include a transaction that is being committed.
    func read<Result>(
        _ body: (any RecordReader) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result
    /// Runs `body` on a snapshot while no other thread writes, so that no ``TransactionEnding`` is called before it
    /// returns.
    func readExclusively<Result>(
        _ body: (any RecordReader) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result
    /// Blocks until every read has ended that may not see the last commit. Must not be called in a read.
    func awaitReads()
    /// Runs `body` in a transaction, which is durable on return. An error of `body` or of the commit rolls its changes
    /// back.
    ///
    /// Calls of several threads may share a transaction: each fails alone if its `body` throws, all if the commit
    /// fails. `ending` is called once.
    func write<Result>(
        ending: (any TransactionEnding)?, _ body: (any RecordWriter) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result
    /// An upper bound of the bytes in the store's log, which need space a second time in the database.
    var logBytes: Int { get }
    /// The number of bytes in the store that deleted rows have freed.
    var freeBytes: Int { get }
    /// Moves the log into the database and truncates it, as far as there is space.
    func truncateLog() throws(KeychainFault)
    /// Calls `body` after another program has changed the store, on the thread that detects it: `body` must not use the
    /// store. One body per store.
    func watchExternalChanges(_ body: @escaping @Sendable () -> Void)
    /// Detects such a change now. Other threads that use the store do that before they write.
    func findExternalChanges() throws(KeychainFault)
    /// Requests that deleted and overwritten data are erased soon. Does not wait.
    func eraseLogSoon()
    /// Checks the structure of the store, without seals and contents of indexes. Returns the number of faults.
    func verifyStructure() throws(KeychainFault) -> Int
    /// Closes the store. Later calls throw ``KeychainFault/notAvailable``.
    func close()
}

extension RecordStore {
    /// Runs `body` in a transaction without a hook.
    package func write<Result>(
        _ body: (any RecordWriter) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result {
        try write(ending: nil, body)
    }
}

/// Deletions of many rows. They return the number of deleted rows.
///
/// In a damaged file a row may be listed with a number that no lookup finds: ``KeychainFault/decode``, because the loop would
/// not end.
extension RecordWriter {
    func deleteItems(of protection: ProtectionClass) throws(KeychainFault) -> Int {
        try deleteRows { (limit) throws(KeychainFault) in
            try itemIDs(of: protection, limit: limit)
        } by: { (row) throws(KeychainFault) in
            guard try item(id: row) != nil else { throw .decode }
            try deleteItem(row)
        }
    }

    /// Deletes the past values of a class; nil for all rows of the table, of which a damaged one is an error.
    func deletePastValues(of protection: ProtectionClass?) throws(KeychainFault) -> Int {
        try deleteRows { (limit) throws(KeychainFault) in
            guard let protection else { return try pastIDs(after: RowID(rawValue: .min), limit: limit) }
            return try pastIDs(of: protection, limit: limit)
        } by: { (row) throws(KeychainFault) in
            guard try past(id: row) != nil else { throw .decode }
            try deletePast(row)
        }
    }

    private func deleteRows(
        _ page: (_ limit: Int) throws(KeychainFault) -> [RowID], by delete: (RowID) throws(KeychainFault) -> Void
    ) throws(KeychainFault) -> Int {
        let pageSize = 512
        var count = 0
        while true {
            let rows = try page(pageSize)
            for row in rows { try delete(row) }
            count += rows.count
            guard rows.count == pageSize else { return count }
        }
    }
}
