/// A writer that records the effect of each change on the digest. Every change of a store uses one.
///
/// If the indexes are known to miss rows, a row that they do not find does not count as absent:
/// ``KeychainFault/decode``.
///
/// Used by one thread, within one call of the store.
final class DigestingWriter: RecordWriter {
    let base: any RecordWriter
    let digest: RowDigest
    /// The ledger of the store; nil in a copy, whose rows keep their numbers.
    private let ledger: DigestLedger?
    /// The state of the indexes; nil in a copy, whose indexes match its rows.
    private var indexes: SharedIndexTrust?
    private(set) var difference = DigestDelta()
    /// The effect of earlier writes of the transaction on directories.
    private var before: (changed: Set<RowID>, touched: Set<RowID>)
    /// The last row read, unless it has changed since: a caller usually changes the row that it has just read.
    private var lastItem: (id: RowID, record: ItemRecord?)?
    private var lastDirectory: (id: RowID, record: DirectoryRecord?)?

    init(_ base: any RecordWriter, digest: RowDigest, ledger: DigestLedger? = nil) {
        self.base = base
        self.digest = digest
        self.ledger = ledger
        indexes = ledger?.indexes
        before = ledger?.directories ?? ([], [])
    }

    // MARK: Changes

    /// Ignores the header, which the ledger writes.
    func put(_ store: StoreRecord) throws(KeychainFault) {
        var store = store
        let old = try storeIfAny()
        if let old { store.header = old.header }
        try base.put(store)
        try note(.store, old: old.map(digest.sum), new: digest.sum(store))
    }

    func put(_ header: Sealed) throws(KeychainFault) { throw .param }

    func put(_ slot: SlotRecord) throws(KeychainFault) {
        let old = try slots().first { $0.id == slot.id }
        try base.put(slot)
        try note(.slot, old: old.map(digest.sum), new: digest.sum(slot))
    }

    func put(_ device: DeviceRecord) throws(KeychainFault) {
        let old = try devices().first { $0.id == device.id }
        try base.put(device)
        try note(.device, old: old.map(digest.sum), new: digest.sum(device))
    }

    func put(_ key: ClassKeyRecord) throws(KeychainFault) {
        let old = try classKeys().first { $0.identity == key.identity }
        try base.put(key)
        try note(.classKey, old: old.map(digest.sum), new: digest.sum(key))
    }

    func put(_ key: UserKeyRecord) throws(KeychainFault) {
        let old = try userKeys().first { $0.generation == key.generation }
        try base.put(key)
        try note(.userKey, old: old.map(digest.sum), new: digest.sum(key))
    }

    func put(_ directory: DirectoryRecord) throws(KeychainFault) {
        try checkName(of: directory)
        let old = try oldSum(ofDirectory: directory.id)
        try base.put(directory)
        try note(.directory, directory.id, old: old, new: digest.sum(directory))
    }

    func put(_ item: ItemRecord, secret: [UInt8]?) throws(KeychainFault) {
        try checkName(of: item)
        let old = try oldItem(item.id)
        var item = item
        item.secretRow = try secretRow(item.secretRow, secret: secret, old: old?.record?.secretRow)
        try base.put(item, secret: secret)
        noteItem(item.id, old: old, new: (try digest.sum(item), item.directory))
    }

    /// Returns the number of the row for a long secret: the present one, if the item has one.
    func secretRow(_ wanted: RowID?, secret: [UInt8]?, old: RowID?) throws(KeychainFault) -> RowID? {
        guard let secret else { return old }
        guard secret.count > ItemRecord.longestShortSecret else { return nil }
        if let row = old ?? wanted { return row }
        guard let ledger else { throw .param }
        return try ledger.reserveRowID()
    }

    func deleteSlot(_ id: Int64) throws(KeychainFault) {
        let old = try slots().first { $0.id == id }
        try base.deleteSlot(id)
        try note(.slot, old: old.map(digest.sum), new: nil)
    }

    func deleteClassKey(_ key: ClassKeyRecord) throws(KeychainFault) {
        let old = try classKeys().first { $0.identity == key.identity }
        try base.deleteClassKey(key)
        try note(.classKey, old: old.map(digest.sum), new: nil)
    }

    func deleteUserKey(_ generation: Int64) throws(KeychainFault) {
        let old = try userKeys().first { $0.generation == generation }
        try base.deleteUserKey(generation)
        try note(.userKey, old: old.map(digest.sum), new: nil)
    }

    func deleteDirectory(_ id: RowID) throws(KeychainFault) {
        guard let old = try oldSum(ofDirectory: id) else { return }
        try indexes?.checkNewName()
        try base.deleteDirectory(id)
        try note(.directory, id, old: old, new: nil)
    }

    func deleteItem(_ id: RowID) throws(KeychainFault) {
        guard let old = try oldItem(id) else { return }
        let keys = try oldItemKeys(of: id)
        try base.deleteItem(id)
        for (position, sum) in keys { note(position, old: sum, new: nil) }
        noteItem(id, old: old, new: nil)
    }

    func rebuildIndexes(
        _ separate: (any RecordWriter) throws(KeychainFault) -> Void
    ) throws(KeychainFault) {
        let trust = indexes
        // Rows are searched without indexes from here on.
        indexes = nil
        defer { indexes = trust }
        // Names may refer to other rows than before.
        difference.noteUnknown()
        try base.rebuildIndexes { (_) throws(KeychainFault) in try separate(self) }
    }

    func hasTouched(_ directory: RowID) -> Bool {
        before.touched.contains(directory) || difference.touched.contains(directory)
    }

    func noteTouched(_ directory: RowID) { difference.touch(directory) }

    func hasChanged(_ directory: RowID) -> Bool {
        before.changed.contains(directory) || difference.changedDirectories.contains(directory)
    }

    /// Requires that the rows of keys are the committed ones, before keys in them are used for a change.
    ///
    /// - Throws: `decode` for malformed, missing, additional or changed rows, or a damaged header.
    func verifyKeys(_ records: KeySnapshot) throws(KeychainFault) {
        var expected = try digest.header(of: records.store).sums.keys
        if let ledger { expected += ledger.pendingSums.keys }
        expected += difference.total().keys
        guard !records.isDamaged, try digest.sum(records) == expected else { throw .decode }
    }

    /// Requires that the commit has a number above this one.
    func raiseCommit(above number: Int64) { difference.raiseCommit(above: number) }

    /// Requires that the transaction writes the mark of this device: it ends a session, or makes this copy the newest one.
    func requireMark() { difference.requireMark() }

    /// Sets the device that runs a rekey; 0 at its end.
    func setRekeyDevice(_ device: Int64) { difference.setRekeyDevice(device) }

    /// Records that the transaction replaces the user key. At its end all rows are digested with the new keys.
    func rotate(to keys: HeaderKeys) { difference.rotate(to: keys) }

    // MARK: Names

    /// Checks the name of a row that is new or renamed.
    private func checkName(of new: DirectoryRecord) throws(KeychainFault) {
        guard let indexes, indexes.value.forbidsNewNames else { return }
        let old = try nilIfDamaged { () throws(KeychainFault) in try base.directory(id: new.id) } ?? nil
        guard old?.tag != new.tag || old?.parent != new.parent else { return }
        try indexes.checkNewName()
    }

    private func checkName(of new: ItemRecord) throws(KeychainFault) {
        guard let indexes, indexes.value.forbidsNewNames else { return }
        let old = try nilIfDamaged { () throws(KeychainFault) in try base.item(id: new.id) } ?? nil
        guard old?.tag != new.tag else { return }
        try indexes.checkNewName()
    }

    /// Returns the result of a lookup, unless an index may have missed the row.
    private func found<Row>(_ row: Row?) throws(KeychainFault) -> Row? {
        if row == nil { try indexes?.checkAbsence() }
        return row
    }

    /// Returns a page of a listing, unless it is the last one and may miss rows.
    private func listed<Row>(_ rows: [Row], limit: Int) throws(KeychainFault) -> [Row] {
        if rows.count < limit { try indexes?.checkAbsence() }
        return rows
    }

    private func note(_ table: RowTable, _ id: RowID = .none, old: DigestSum?, new: DigestSum?) throws(KeychainFault) {
        if table == .directory { before.touched.remove(id) }
        note(RowPosition(table: table, id: id.rawValue), old: old, new: new)
    }

    func note(_ position: RowPosition, old: DigestSum?, new: DigestSum?) {
        var change = new ?? DigestSum()
        if let old { change -= old }
        difference.add(change, at: position)
    }

    func note(pastBytes change: Int64) { difference.add(pastBytes: change) }

    private func noteItem(
        _ id: RowID, old: (sum: DigestSum, record: ItemRecord?)?, new: (sum: DigestSum, directory: RowID)?
    ) {
        var sum = new?.sum ?? DigestSum()
        if let old {
            sum -= old.sum
            if old.record == nil { difference.noteUnknown() }
        }
        difference.add(
            DigestDelta.RowChange(
                position: RowPosition(table: .item, id: id.rawValue), sum: sum,
                directories: (old?.record?.directory ?? .none, new?.directory ?? .none)))
    }

    private func storeIfAny() throws(KeychainFault) -> StoreRecord? {
        do throws(KeychainFault) {
            return try base.store()
        } catch .decode, .notAKeychain {
            return nil
        }
    }

    /// Returns the sum of the row before its change. A row that cannot be decoded can still be replaced or removed. Its
    /// contribution to the sum is unknown, so the sum continues to show the damage.
    private func oldSum(ofDirectory id: RowID) throws(KeychainFault) -> DigestSum? {
        defer { lastDirectory = nil }
        if let last = lastDirectory, last.id == id { return try last.record.map(digest.sum) }
        do throws(KeychainFault) {
            return try base.directory(id: id).map(digest.sum)
        } catch .decode {
            return .ofUnknownRow
        }
    }

    /// Returns an item before its change; without its record if it cannot be decoded.
    private func oldItem(_ id: RowID) throws(KeychainFault) -> (sum: DigestSum, record: ItemRecord?)? {
        defer { lastItem = nil }
        do throws(KeychainFault) {
            let record: ItemRecord?
            if let last = lastItem, last.id == id {
                record = last.record
            } else {
                record = try base.item(id: id)
            }
            guard let record else { return nil }
            return (try digest.sum(record), record)
        } catch .decode {
            return (.ofUnknownRow, nil)
        }
    }
}

// MARK: Reads

extension DigestingWriter {
    func store() throws(KeychainFault) -> StoreRecord { try base.store() }
    func slots() throws(KeychainFault) -> [SlotRecord] { try base.slots() }
    func devices() throws(KeychainFault) -> [DeviceRecord] { try base.devices() }
    func classKeys() throws(KeychainFault) -> [ClassKeyRecord] { try base.classKeys() }
    func userKeys() throws(KeychainFault) -> [UserKeyRecord] { try base.userKeys() }
    func damagedKeys() throws(KeychainFault) -> DamagedKeys { try base.damagedKeys() }

    func directory(id: RowID) throws(KeychainFault) -> DirectoryRecord? {
        let record = try base.directory(id: id)
        lastDirectory = (id, record)
        return record
    }

    func directory(tag: [UInt8], always: Bool) throws(KeychainFault) -> DirectoryRecord? {
        try found(base.directory(tag: tag, always: always))
    }

    func directories(parent: RowID, after: RowID, limit: Int) throws(KeychainFault) -> [DirectoryRecord] {
        try listed(base.directories(parent: parent, after: after, limit: limit), limit: limit)
    }

    func directoryIDs(parent: RowID, after: RowID, limit: Int) throws(KeychainFault) -> [RowID] {
        try listed(base.directoryIDs(parent: parent, after: after, limit: limit), limit: limit)
    }

    func directoryIDs(after: RowID, limit: Int) throws(KeychainFault) -> [RowID] {
        try base.directoryIDs(after: after, limit: limit)
    }

    func directories(after: RowID, limit: Int) throws(KeychainFault) -> [DirectoryRecord] {
        try base.directories(after: after, limit: limit)
    }

    func holdsAlwaysDirectory(_ parent: RowID) throws(KeychainFault) -> Bool {
        try found(base.holdsAlwaysDirectory(parent) ? true : nil) ?? false
    }

    func item(id: RowID) throws(KeychainFault) -> ItemRecord? {
        let record = try base.item(id: id)
        lastItem = (id, record)
        return record
    }

    func item(tag: [UInt8], always: Bool) throws(KeychainFault) -> ItemRecord? {
        try found(base.item(tag: tag, always: always))
    }

    func items(directory: RowID, after: RowID, limit: Int) throws(KeychainFault) -> [ItemRecord] {
        try listed(base.items(directory: directory, after: after, limit: limit), limit: limit)
    }

    func itemIDs(directory: RowID, after: RowID, limit: Int) throws(KeychainFault) -> [RowID] {
        try listed(base.itemIDs(directory: directory, after: after, limit: limit), limit: limit)
    }

    func items(after: RowID, limit: Int) throws(KeychainFault) -> [ItemRecord] {
        try base.items(after: after, limit: limit)
    }

    func itemIDs(after: RowID, limit: Int) throws(KeychainFault) -> [RowID] {
        try base.itemIDs(after: after, limit: limit)
    }

    func holdsAlwaysItem(_ directory: RowID) throws(KeychainFault) -> Bool {
        try found(base.holdsAlwaysItem(directory) ? true : nil) ?? false
    }

    func itemClasses(below directory: RowID) throws(KeychainFault) -> [(protection: ProtectionClass, generation: Int64)]
    {
        try base.itemClasses(below: directory)
    }

    func ephemeralItems(after: RowID, limit: Int) throws(KeychainFault) -> [RowID] {
        try base.ephemeralItems(after: after, limit: limit)
    }

    func secret(of item: RowID) throws(KeychainFault) -> [UInt8] { try base.secret(of: item) }
    func itemWithSecret(id: RowID) throws(KeychainFault) -> (item: ItemRecord, secret: [UInt8])? {
        try base.itemWithSecret(id: id)
    }

    func itemCounts(of generations: Set<KeyGeneration>) throws(KeychainFault) -> [KeyGeneration: Int] {
        try base.itemCounts(of: generations)
    }

    func usedKeys(of generations: Set<KeyGeneration>) throws(KeychainFault) -> Set<KeyGeneration> {
        try base.usedKeys(of: generations)
    }

    func rowCounts(of old: OldKeys) throws(KeychainFault) -> OldRowCounts { try base.rowCounts(of: old) }

    func itemIDs(of old: OldKeys, after: RowID, limit: Int) throws(KeychainFault) -> [RowID] {
        try base.itemIDs(of: old, after: after, limit: limit)
    }

    func directoryIDs(of old: OldKeys, after: RowID, limit: Int) throws(KeychainFault) -> [RowID] {
        try base.directoryIDs(of: old, after: after, limit: limit)
    }

    func itemIDs(of protection: ProtectionClass, limit: Int) throws(KeychainFault) -> [RowID] {
        try base.itemIDs(of: protection, limit: limit)
    }

    func itemCount() throws(KeychainFault) -> Int { try base.itemCount() }
    func directoryCount() throws(KeychainFault) -> Int { try base.directoryCount() }
    func rowCount(_ ids: ClosedRange<RowID>) throws(KeychainFault) -> Int { try base.rowCount(ids) }
    func firstUnusedRowID(from next: RowID) throws(KeychainFault) -> RowID { try base.firstUnusedRowID(from: next) }

    func indexedRows(_ table: IndexedTable, after: RowID, limit: Int) throws(KeychainFault) -> IndexedRows {
        try base.indexedRows(table, after: after, limit: limit)
    }

    func indexEntries(after position: IndexPosition, limit: Int) throws(KeychainFault) -> IndexEntries {
        try base.indexEntries(after: position, limit: limit)
    }

    func rowsOfSharedTags(_ table: IndexedTable) throws(KeychainFault) -> [[RowID]] {
        try base.rowsOfSharedTags(table)
    }
}
