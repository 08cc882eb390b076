/// Reads of one consistent state of the store. All look-ups are O(log n).
package protocol RecordReader {
    func store() throws(KeychainFault) -> StoreRecord
    func slots() throws(KeychainFault) -> [SlotRecord]
    func devices() throws(KeychainFault) -> [DeviceRecord]
    func classKeys() throws(KeychainFault) -> [ClassKeyRecord]
    /// User keys of the past, in the order of their generations.
    func userKeys() throws(KeychainFault) -> [UserKeyRecord]
    /// How many rows of slots, devices and keys are not of the form of one, so that the others come without them.
    func damagedKeys() throws(KeychainFault) -> DamagedKeys

    func directory(id: RowID) throws(KeychainFault) -> DirectoryRecord?
    /// By its tag, or by its Always tag. An index that leads to a row of another tag: ``KeychainFault/decode``.
    func directory(tag: [UInt8], always: Bool) throws(KeychainFault) -> DirectoryRecord?
    /// Those whose id is greater than `after`, in the order of ids, at most `limit`.
    func directories(parent: RowID, after: RowID, limit: Int) throws(KeychainFault) -> [DirectoryRecord]

    /// Their ids alone: tells the rows of a listing in which one does not decode.
    func directoryIDs(parent: RowID, after: RowID, limit: Int) throws(KeychainFault) -> [RowID]
    /// Of all directories, as above.
    func directoryIDs(after: RowID, limit: Int) throws(KeychainFault) -> [RowID]
    /// Without reading the ciphertexts.
    func directorySummary(id: RowID) throws(KeychainFault) -> DirectoryRowSummary?
    /// Of all directories: those whose id is greater than `after`, in the order of ids, at most `limit`.
    func directoryHeads(after: RowID, limit: Int) throws(KeychainFault) -> [DirectoryRowSummary]
    /// Whether any directory of that parent has an Always tag.
    func holdsAlwaysDirectory(_ parent: RowID) throws(KeychainFault) -> Bool

    func item(id: RowID) throws(KeychainFault) -> ItemRecord?
    /// By its tag, or by its Always tag. An index that leads to a row of another tag: ``KeychainFault/decode``.
    func item(tag: [UInt8], always: Bool) throws(KeychainFault) -> ItemRecord?
    /// Those whose id is greater than `after`, in the order of ids, at most `limit`.
    func items(directory: RowID, after: RowID, limit: Int) throws(KeychainFault) -> [ItemRecord]
    /// Their ids alone: tells the rows of a listing in which one does not decode.
    func itemIDs(directory: RowID, after: RowID, limit: Int) throws(KeychainFault) -> [RowID]
    /// Of all items: those whose id is greater than `after`, in the order of ids, at most `limit`.
    func items(after: RowID, limit: Int) throws(KeychainFault) -> [ItemRecord]
    /// Their ids alone, as above.
    func itemIDs(after: RowID, limit: Int) throws(KeychainFault) -> [RowID]
    /// An item and the ciphertext of its secret, as ``secret(of:)`` gives it, in one look-up.
    func itemWithSecret(id: RowID) throws(KeychainFault) -> (item: ItemRecord, secret: [UInt8])?
    /// Without reading the ciphertexts.
    func itemSummary(id: RowID) throws(KeychainFault) -> ItemRowSummary?
    /// Of all items: those whose id is greater than `after`, in the order of ids, at most `limit`.
    func itemHeads(after: RowID, limit: Int) throws(KeychainFault) -> [ItemRowSummary]
    /// Whether any item of that directory has an Always tag.
    func holdsAlwaysItem(_ directory: RowID) throws(KeychainFault) -> Bool
    /// The classes and generations of the items in a directory and in those below it, each once: O(items).
    func itemClasses(below directory: RowID) throws(KeychainFault) -> [(protection: ProtectionClass, generation: Int64)]
    /// Rows that were sealed while locked (``ItemRecord/ephemeral``), as with listings.
    func ephemeralItems(after: RowID, limit: Int) throws(KeychainFault) -> [RowID]
    /// The ciphertext of the item's secret, all chunks in order; empty if it has none.
    func secret(of item: RowID) throws(KeychainFault) -> [UInt8]

    /// Looks at every item: O(n).
    func itemCount() throws(KeychainFault) -> Int
    func directoryCount() throws(KeychainFault) -> Int
    /// Items under those keys, by keys; without those that no item is under. Looks at every item: O(n).
    func itemCounts(of generations: Set<KeyGeneration>) throws(KeychainFault) -> [KeyGeneration: Int]
    /// The ids of items under those keys that are greater than `after`, in the order of ids, at most `limit`; also of rows that do
    /// not decode otherwise. May look at every item behind `after`.
    func itemIDs(
        of generations: Set<KeyGeneration>, after: RowID, limit: Int
    ) throws(KeychainFault) -> [RowID]
    /// The ids of items of a class, at most `limit`, in any order: O(n).
    func itemIDs(of protection: ProtectionClass, limit: Int) throws(KeychainFault) -> [RowID]
    /// The id that new rows follow: the highest one of an item, a directory or ``StoreRecord/highestRow``.
    ///
    /// Where a damaged row has a number that leaves none for others, the highest one that has ``RowID/room`` behind it.
    func newestRowID() throws(KeychainFault) -> RowID

    /// Searches each index for the rows of a table whose number is greater than `after`, in the order of numbers, at most `limit`
    /// rows. With a limit of 1, an index that cannot be read does not prevent the search in the others.
    func indexedRows(_ table: IndexedTable, after: RowID, limit: Int) throws(KeychainFault) -> IndexedRows
    /// Compares the index entries after a position with their rows: at most `limit` entries of one index. An entry that is out of
    /// order ends its index.
    func indexEntries(after position: IndexPosition, limit: Int) throws(KeychainFault) -> IndexEntries
    /// Groups of rows that share a tag, in the order of numbers: empty unless an index has missed a row. Costs O(n).
    func rowsOfSharedTags(_ table: IndexedTable) throws(KeychainFault) -> [[RowID]]
}

/// Changes within one transaction; reads see them.
package protocol RecordWriter: RecordReader {
    /// Inserts, or replaces the row of the same id (for a class key: of the same purpose, generation, device, wrapping).
    func put(_ store: StoreRecord) throws(KeychainFault)
    /// Changes these two of the store's record, which exists.
    func put(_ header: Sealed, highestRow: RowID) throws(KeychainFault)
    func put(_ slot: SlotRecord) throws(KeychainFault)
    func put(_ device: DeviceRecord) throws(KeychainFault)
    func put(_ key: ClassKeyRecord) throws(KeychainFault)
    func put(_ key: UserKeyRecord) throws(KeychainFault)
    /// A tag that another row has: ``KeychainFault/duplicateItem``.
    func put(_ directory: DirectoryRecord) throws(KeychainFault)
    /// A nil `secret` keeps the ciphertext as it is; a tag that another row has: ``KeychainFault/duplicateItem``.
    func put(_ item: ItemRecord, secret: [UInt8]?) throws(KeychainFault)

    /// What is not there is no error.
    func deleteSlot(_ id: Int64) throws(KeychainFault)
    func deleteClassKey(_ key: ClassKeyRecord) throws(KeychainFault)
    func deleteUserKey(_ generation: Int64) throws(KeychainFault)
    func deleteDirectory(_ id: RowID) throws(KeychainFault)
    func deleteItem(_ id: RowID) throws(KeychainFault)

    /// Rebuilds every index from the rows.
    ///
    /// `separate` runs while there is no index: its writer searches the tables. Afterwards no two rows may share a tag:
    /// ``KeychainFault/duplicateItem``.
    func rebuildIndexes(
        _ separate: (any RecordWriter) throws(KeychainFault) -> Void
    ) throws(KeychainFault)

    /// Whether this transaction has made a directory's modification time its own, and nothing has changed the row since: all
    /// that many callers add to one directory at once becomes visible at one moment.
    func hasTouched(_ directory: RowID) -> Bool
    /// It has.
    func noteTouched(_ directory: RowID)
    /// Whether this transaction has changed a directory's row.
    func hasChanged(_ directory: RowID) -> Bool
}

extension RecordWriter {
    package func hasTouched(_ directory: RowID) -> Bool { false }
    package func noteTouched(_ directory: RowID) {}
    package func hasChanged(_ directory: RowID) -> Bool { true }
}

/// What has to be done at the end of a transaction, however many callers share it.
///
/// One object per store. The store calls it by one thread at a time, and while nobody reads alone.
package protocol TransactionEnding: Sendable {
    /// Once in each transaction that changes anything, after the last caller's part. What it throws fails them all.
    func willCommit(_ writer: any RecordWriter) throws(KeychainFault)
    /// The transaction is durable, or nothing of it is left.
    func didEnd(isCommitted: Bool)
}

/// Where sealed records are kept: the port between the keychain and its store.
///
/// It never sees a key or a plaintext. Calls come from several threads.
package protocol RecordStore: Sendable {
    /// Whether ``write(_:)`` throws ``KeychainFault/readOnly``.
    var isReadOnly: Bool { get }
    /// Whether changes would be found again: false once what the store is kept in has been moved or removed.
    var isInPlace: Bool { get }
    /// What `body` sees is durable, and of one moment. It may not see what is being committed meanwhile.
    func read<Result>(
        _ body: (any RecordReader) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result
    /// The same while nobody writes, so that no ``TransactionEnding`` is told anything before it returns.
    func readExclusively<Result>(
        _ body: (any RecordReader) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result
    /// Durable when it returns; nothing of it is seen if `body` or the commit throws.
    ///
    /// Calls of several threads may share one transaction: each fails alone if its `body` throws, all if the commit
    /// does. `ending` is told once.
    func write<Result>(
        ending: (any TransactionEnding)?, _ body: (any RecordWriter) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result
    /// In bytes, at most: what the store keeps in a log and will need room for a second time, where it is to stay.
    var logBytes: Int { get }
    /// In bytes: the room that is in the store already, left by what was deleted.
    var freeBytes: Int { get }
    /// Moves what is in the log there, as far as there is room.
    func truncateLog() throws(KeychainFault)
    /// Calls `body` after a program other than this process has changed what the store is kept in, on the thread that finds it:
    /// `body` must not use the store. One body per store.
    func watchExternalChanges(_ body: @escaping @Sendable () -> Void)
    /// Looks for such a change now. Other threads that use the store look, too, before they write.
    func findExternalChanges() throws(KeychainFault)
    /// Soon leaves nothing of what was deleted or overwritten; does not wait for it.
    func eraseLogSoon()
    /// Checks the store's own structure (not the seals, and not what indexes lead to); returns how many faults it found.
    func verifyStructure() throws(KeychainFault) -> Int
    /// Ends the use of the store; later calls throw ``KeychainFault/notAvailable``.
    func close()
}

extension RecordStore {
    /// Without an ending: the records alone.
    package func write<Result>(
        _ body: (any RecordWriter) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result {
        try write(ending: nil, body)
    }
}

extension RecordWriter {
    /// Deletes all items of a class; returns how many.
    ///
    /// In a damaged file a row may be listed under a number that nothing is found by: ``KeychainFault/decode``, or this would
    /// go on for ever.
    func deleteItems(of protection: ProtectionClass) throws(KeychainFault) -> Int {
        let pageSize = 512
        var count = 0
        while true {
            let rows = try itemIDs(of: protection, limit: pageSize)
            for row in rows {
                guard try itemSummary(id: row) != nil else { throw .decode }
                try deleteItem(row)
            }
            count += rows.count
            guard rows.count == pageSize else { return count }
        }
    }
}
