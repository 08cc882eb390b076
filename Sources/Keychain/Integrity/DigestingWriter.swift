/// A writer that notes what each change does to the digest; every change of a store goes through one.
///
/// Where the indexes are known to miss rows, it takes nothing for absent that they do not lead to: ``KeychainError/decode``.
///
/// Used by one thread, within one call of the store.
final class DigestingWriter: RecordWriter {
    private let base: any RecordWriter
    private let digest: RowDigest
    /// Nil in a store that was just made: its indexes are what its rows are.
    private var indexes: SharedIndexTrust?
    private(set) var difference = RowDifference()
    /// What parts of the transaction that came before have done to directories.
    private var before: (changed: Set<RowID>, touched: Set<RowID>)
    /// The row that was read last, and not changed since: whoever changes a row has mostly just read it.
    private var lastItem: (id: RowID, head: ItemHead?)?
    private var lastDirectory: (id: RowID, head: DirectoryHead?)?

    init(
        _ base: any RecordWriter, digest: RowDigest, indexes: SharedIndexTrust? = nil,
        before: (changed: Set<RowID>, touched: Set<RowID>) = ([], [])
    ) {
        self.base = base
        self.digest = digest
        self.indexes = indexes
        self.before = before
    }

    // MARK: Changes

    /// The header stays what it is: it is the ledger's.
    func put(_ store: StoreRecord) throws(KeychainError) {
        var store = store
        let old = try storeIfAny()
        if let old { store.header = old.header }
        try base.put(store)
        try note(.store, old: old.map(digest.sum), new: digest.sum(store))
    }

    func put(_ header: Sealed, highestRow: RowID) throws(KeychainError) { throw .param }

    func put(_ slot: SlotRecord) throws(KeychainError) {
        let old = try slots().first { $0.id == slot.id }
        try base.put(slot)
        try note(.slot, old: old.map(digest.sum), new: digest.sum(slot))
    }

    func put(_ device: DeviceRecord) throws(KeychainError) {
        let old = try devices().first { $0.id == device.id }
        try base.put(device)
        try note(.device, old: old.map(digest.sum), new: digest.sum(device))
    }

    func put(_ key: ClassKeyRecord) throws(KeychainError) {
        let old = try classKeys().first { $0.place == key.place }
        try base.put(key)
        try note(.classKey, old: old.map(digest.sum), new: digest.sum(key))
    }

    func put(_ key: UserKeyRecord) throws(KeychainError) {
        let old = try userKeys().first { $0.generation == key.generation }
        try base.put(key)
        try note(.userKey, old: old.map(digest.sum), new: digest.sum(key))
    }

    func put(_ directory: DirectoryRecord) throws(KeychainError) {
        let head = directory.head
        try checkName(of: head)
        let old = try oldSum(ofDirectory: directory.id)
        try base.put(directory)
        try note(.directory, directory.id, old: old, new: digest.sum(head))
    }

    func put(_ item: ItemRecord, secret: [UInt8]?) throws(KeychainError) {
        let head = item.head
        try checkName(of: head)
        let old = try oldItem(item.id)
        try base.put(item, secret: secret)
        noteItem(item.id, old: old, new: (try digest.sum(head), head.directory))
    }

    func deleteSlot(_ id: Int64) throws(KeychainError) {
        let old = try slots().first { $0.id == id }
        try base.deleteSlot(id)
        try note(.slot, old: old.map(digest.sum), new: nil)
    }

    func deleteClassKey(_ key: ClassKeyRecord) throws(KeychainError) {
        let old = try classKeys().first { $0.place == key.place }
        try base.deleteClassKey(key)
        try note(.classKey, old: old.map(digest.sum), new: nil)
    }

    func deleteUserKey(_ generation: Int64) throws(KeychainError) {
        let old = try userKeys().first { $0.generation == generation }
        try base.deleteUserKey(generation)
        try note(.userKey, old: old.map(digest.sum), new: nil)
    }

    func deleteDirectory(_ id: RowID) throws(KeychainError) {
        guard let old = try oldSum(ofDirectory: id) else { return }
        try indexes?.checkNewName()
        try base.deleteDirectory(id)
        difference.retire(id)
        try note(.directory, id, old: old, new: nil)
    }

    func deleteItem(_ id: RowID) throws(KeychainError) {
        guard let old = try oldItem(id) else { return }
        try base.deleteItem(id)
        difference.retire(id)
        noteItem(id, old: old, new: nil)
    }

    func rebuildIndexes(
        _ separate: (any RecordWriter) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        let trust = indexes
        // Rows are searched for themselves meanwhile.
        indexes = nil
        defer { indexes = trust }
        // Names may lead to other rows than before.
        difference.noteUnknown()
        try base.rebuildIndexes { (_) throws(KeychainError) in try separate(self) }
    }

    func hasTouched(_ directory: RowID) -> Bool {
        before.touched.contains(directory) || difference.touched.contains(directory)
    }

    func noteTouched(_ directory: RowID) { difference.touch(directory) }

    func hasChanged(_ directory: RowID) -> Bool {
        before.changed.contains(directory) || difference.changedDirectories.contains(directory)
    }

    // MARK: Names

    /// A row that is new, or gets another name.
    private func checkName(of new: DirectoryHead) throws(KeychainError) {
        guard let indexes, indexes.value.forbidsNewNames else { return }
        let old = try unlessDamaged { () throws(KeychainError) in try base.directoryHead(id: new.id) } ?? nil
        guard old?.tag != new.tag || old?.parent != new.parent else { return }
        try indexes.checkNewName()
    }

    private func checkName(of new: ItemHead) throws(KeychainError) {
        guard let indexes, indexes.value.forbidsNewNames else { return }
        let old = try unlessDamaged { () throws(KeychainError) in try base.itemHead(id: new.id) } ?? nil
        guard old?.tag != new.tag else { return }
        try indexes.checkNewName()
    }

    /// What was looked up, unless it may have been missed.
    private func found<Row>(_ row: Row?) throws(KeychainError) -> Row? {
        if row == nil { try indexes?.checkAbsence() }
        return row
    }

    /// A page of a listing, unless it is the last one and may lack rows.
    private func listed<Row>(_ rows: [Row], limit: Int) throws(KeychainError) -> [Row] {
        if rows.count < limit { try indexes?.checkAbsence() }
        return rows
    }

    private func note(_ table: RowTable, _ id: RowID = .none, old: RowSum?, new: RowSum?) throws(KeychainError) {
        if table == .directory { before.touched.remove(id) }
        var change = new ?? RowSum()
        if let old { change -= old }
        difference.add(change, at: RowPlace(table: table, id: id.rawValue))
    }

    private func noteItem(
        _ id: RowID, old: (sum: RowSum, directory: RowID?)?, new: (sum: RowSum, directory: RowID)?
    ) {
        var sum = new?.sum ?? RowSum()
        if let old {
            sum -= old.sum
            if old.directory == nil { difference.noteUnknown() }
        }
        difference.add(
            RowDifference.RowChange(
                place: RowPlace(table: .item, id: id.rawValue), sum: sum,
                directories: (old?.directory ?? .none, new?.directory ?? .none)))
    }

    private func storeIfAny() throws(KeychainError) -> StoreRecord? {
        do throws(KeychainError) {
            return try base.store()
        } catch .decode, .notAKeychain {
            return nil
        }
    }

    /// A row that does not decode can still be replaced or removed. What it added to the sum is unknown, so the sum
    /// goes on telling that it was damaged.
    private func oldSum(ofDirectory id: RowID) throws(KeychainError) -> RowSum? {
        defer { lastDirectory = nil }
        if let last = lastDirectory, last.id == id { return try last.head.map(digest.sum) }
        do throws(KeychainError) {
            return try base.directoryHead(id: id).map(digest.sum)
        } catch .decode {
            return .ofUnknownRow
        }
    }

    /// An item before its change. If it does not decode, its directory is unknown.
    private func oldItem(_ id: RowID) throws(KeychainError) -> (sum: RowSum, directory: RowID?)? {
        defer { lastItem = nil }
        do throws(KeychainError) {
            let head: ItemHead?
            if let last = lastItem, last.id == id { head = last.head } else { head = try base.itemHead(id: id) }
            guard let head else { return nil }
            return (try digest.sum(head), head.directory)
        } catch .decode {
            return (.ofUnknownRow, nil)
        }
    }
}

// MARK: Reads

extension DigestingWriter {
    func store() throws(KeychainError) -> StoreRecord { try base.store() }
    func slots() throws(KeychainError) -> [SlotRecord] { try base.slots() }
    func devices() throws(KeychainError) -> [DeviceRecord] { try base.devices() }
    func classKeys() throws(KeychainError) -> [ClassKeyRecord] { try base.classKeys() }
    func userKeys() throws(KeychainError) -> [UserKeyRecord] { try base.userKeys() }
    func damagedKeys() throws(KeychainError) -> DamagedKeys { try base.damagedKeys() }

    func directory(id: RowID) throws(KeychainError) -> DirectoryRecord? {
        let record = try base.directory(id: id)
        lastDirectory = (id, record?.head)
        return record
    }

    func directory(tag: [UInt8], always: Bool) throws(KeychainError) -> DirectoryRecord? {
        try found(base.directory(tag: tag, always: always))
    }

    func directories(parent: RowID, after: RowID, limit: Int) throws(KeychainError) -> [DirectoryRecord] {
        try listed(base.directories(parent: parent, after: after, limit: limit), limit: limit)
    }

    func directoryIDs(parent: RowID, after: RowID, limit: Int) throws(KeychainError) -> [RowID] {
        try listed(base.directoryIDs(parent: parent, after: after, limit: limit), limit: limit)
    }

    func directoryIDs(after: RowID, limit: Int) throws(KeychainError) -> [RowID] {
        try base.directoryIDs(after: after, limit: limit)
    }

    func directoryHead(id: RowID) throws(KeychainError) -> DirectoryHead? { try base.directoryHead(id: id) }

    func directoryHeads(after: RowID, limit: Int) throws(KeychainError) -> [DirectoryHead] {
        try base.directoryHeads(after: after, limit: limit)
    }

    func holdsAlwaysDirectory(_ parent: RowID) throws(KeychainError) -> Bool {
        try found(base.holdsAlwaysDirectory(parent) ? true : nil) ?? false
    }

    func item(id: RowID) throws(KeychainError) -> ItemRecord? {
        let record = try base.item(id: id)
        lastItem = (id, record?.head)
        return record
    }

    func item(tag: [UInt8], always: Bool) throws(KeychainError) -> ItemRecord? {
        try found(base.item(tag: tag, always: always))
    }

    func items(directory: RowID, after: RowID, limit: Int) throws(KeychainError) -> [ItemRecord] {
        try listed(base.items(directory: directory, after: after, limit: limit), limit: limit)
    }

    func itemIDs(directory: RowID, after: RowID, limit: Int) throws(KeychainError) -> [RowID] {
        try listed(base.itemIDs(directory: directory, after: after, limit: limit), limit: limit)
    }

    func items(after: RowID, limit: Int) throws(KeychainError) -> [ItemRecord] {
        try base.items(after: after, limit: limit)
    }

    func itemIDs(after: RowID, limit: Int) throws(KeychainError) -> [RowID] {
        try base.itemIDs(after: after, limit: limit)
    }

    func itemHead(id: RowID) throws(KeychainError) -> ItemHead? { try base.itemHead(id: id) }

    func itemHeads(after: RowID, limit: Int) throws(KeychainError) -> [ItemHead] {
        try base.itemHeads(after: after, limit: limit)
    }

    func holdsAlwaysItem(_ directory: RowID) throws(KeychainError) -> Bool {
        try found(base.holdsAlwaysItem(directory) ? true : nil) ?? false
    }

    func itemClasses(below directory: RowID) throws(KeychainError) -> [(protection: Protection, generation: Int64)] {
        try base.itemClasses(below: directory)
    }

    func ephemeralItems(after: RowID, limit: Int) throws(KeychainError) -> [RowID] {
        try base.ephemeralItems(after: after, limit: limit)
    }

    func secret(of item: RowID) throws(KeychainError) -> [UInt8] { try base.secret(of: item) }
    func itemWithSecret(id: RowID) throws(KeychainError) -> (item: ItemRecord, secret: [UInt8])? {
        try base.itemWithSecret(id: id)
    }

    func itemCounts(of generations: Set<KeyGeneration>) throws(KeychainError) -> [KeyGeneration: Int] {
        try base.itemCounts(of: generations)
    }

    func itemIDs(
        of generations: Set<KeyGeneration>, after: RowID, limit: Int
    ) throws(KeychainError) -> [RowID] {
        try base.itemIDs(of: generations, after: after, limit: limit)
    }

    func itemIDs(of protection: Protection, limit: Int) throws(KeychainError) -> [RowID] {
        try base.itemIDs(of: protection, limit: limit)
    }

    func itemCount() throws(KeychainError) -> Int { try base.itemCount() }
    func directoryCount() throws(KeychainError) -> Int { try base.directoryCount() }
    func newestRowID() throws(KeychainError) -> RowID { try base.newestRowID() }

    func indexedRows(_ table: IndexedTable, after: RowID, limit: Int) throws(KeychainError) -> IndexedRows {
        try base.indexedRows(table, after: after, limit: limit)
    }

    func indexEntries(after position: IndexPosition, limit: Int) throws(KeychainError) -> IndexEntries {
        try base.indexEntries(after: position, limit: limit)
    }

    func rowsOfSharedTags(_ table: IndexedTable) throws(KeychainError) -> [[RowID]] {
        try base.rowsOfSharedTags(table)
    }
}
