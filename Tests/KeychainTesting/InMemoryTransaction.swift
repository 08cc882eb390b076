internal import Keychain
import Synchronization

/// Reads and changes of one transaction, on its own copy of the rows. Used by one thread.
final class InMemoryTransaction: RecordWriter {
    var records: InMemoryRecords
    private let secretReads: SecretReads

    init(_ records: InMemoryRecords, _ secretReads: SecretReads) {
        self.records = records
        self.secretReads = secretReads
    }

    func store() throws(KeychainError) -> StoreRecord {
        guard let record = records.storeRecord else { throw .notAKeychain }
        return record
    }

    func slots() throws(KeychainError) -> [SlotRecord] { records.slotRecords.values.sorted { $0.id < $1.id } }
    func devices() throws(KeychainError) -> [DeviceRecord] { records.deviceRecords.values.sorted { $0.id < $1.id } }
    func classKeys() throws(KeychainError) -> [ClassKeyRecord] { records.classKeyRecords }
    func userKeys() throws(KeychainError) -> [UserKeyRecord] {
        records.userKeyRecords.values.sorted { $0.generation < $1.generation }
    }

    func directory(id: RowID) throws(KeychainError) -> DirectoryRecord? { records.directoryRecords[id] }

    func directory(tag: [UInt8], always: Bool) throws(KeychainError) -> DirectoryRecord? {
        records.directory(tag: tag, always: always)
    }

    func directories(parent: RowID, after: RowID, limit: Int) throws(KeychainError) -> [DirectoryRecord] {
        let rows = records.directoryRecords.values.filter { $0.parent == parent && $0.id > after }
        return Array(rows.sorted { $0.id < $1.id }.prefix(limit))
    }

    func item(id: RowID) throws(KeychainError) -> ItemRecord? { records.itemRecords[id] }

    func item(tag: [UInt8], always: Bool) throws(KeychainError) -> ItemRecord? {
        records.item(tag: tag, always: always)
    }

    func items(directory: RowID, after: RowID, limit: Int) throws(KeychainError) -> [ItemRecord] {
        let rows = records.itemRecords.values.filter { $0.directory == directory && $0.id > after }
        return Array(rows.sorted { $0.id < $1.id }.prefix(limit))
    }

    func itemIDs(directory: RowID, after: RowID, limit: Int) throws(KeychainError) -> [RowID] {
        try items(directory: directory, after: after, limit: limit).map(\.id)
    }

    func items(after: RowID, limit: Int) throws(KeychainError) -> [ItemRecord] {
        let ids = records.itemRecords.keys.filter { $0 > after }.sorted().prefix(limit)
        return ids.compactMap { records.itemRecords[$0] }
    }

    func itemIDs(after: RowID, limit: Int) throws(KeychainError) -> [RowID] {
        try items(after: after, limit: limit).map(\.id)
    }

    func directoryIDs(parent: RowID, after: RowID, limit: Int) throws(KeychainError) -> [RowID] {
        try directories(parent: parent, after: after, limit: limit).map(\.id)
    }

    func directoryIDs(after: RowID, limit: Int) throws(KeychainError) -> [RowID] {
        try directoryHeads(after: after, limit: limit).map(\.id)
    }

    func itemWithSecret(id: RowID) throws(KeychainError) -> (item: ItemRecord, secret: [UInt8])? {
        try item(id: id).map { (record) throws(KeychainError) in (record, try secret(of: id)) }
    }

    func directoryHead(id: RowID) throws(KeychainError) -> DirectoryHead? { records.directoryRecords[id]?.head }

    func directoryHeads(after: RowID, limit: Int) throws(KeychainError) -> [DirectoryHead] {
        let ids = records.directoryRecords.keys.filter { $0 > after }.sorted().prefix(limit)
        return ids.compactMap { records.directoryRecords[$0]?.head }
    }

    func holdsAlwaysDirectory(_ parent: RowID) throws(KeychainError) -> Bool {
        records.directoryRecords.values.contains { $0.parent == parent && $0.alwaysTag != nil }
    }

    func itemHead(id: RowID) throws(KeychainError) -> ItemHead? { records.itemRecords[id]?.head }

    func itemHeads(after: RowID, limit: Int) throws(KeychainError) -> [ItemHead] {
        let ids = records.itemRecords.keys.filter { $0 > after }.sorted().prefix(limit)
        return ids.compactMap { records.itemRecords[$0]?.head }
    }

    func holdsAlwaysItem(_ directory: RowID) throws(KeychainError) -> Bool {
        records.itemRecords.values.contains { $0.directory == directory && $0.alwaysTag != nil }
    }

    func itemClasses(below directory: RowID) throws(KeychainError) -> [(protection: Protection, generation: Int64)] {
        var below: Set<RowID> = [directory]
        while true {
            let next = records.directoryRecords.values.filter { below.contains($0.parent) }.map(\.id)
            guard !below.isSuperset(of: next) else { break }
            below.formUnion(next)
        }
        var found: [(protection: Protection, generation: Int64)] = []
        for item in records.itemRecords.values where below.contains(item.directory) {
            if found.contains(where: { $0 == (item.protection, item.generation) }) { continue }
            found.append((item.protection, item.generation))
        }
        return found
    }

    func ephemeralItems(after: RowID, limit: Int) throws(KeychainError) -> [RowID] {
        let rows = records.itemRecords.values.filter { $0.ephemeral != nil && $0.id > after }
        return Array(rows.map(\.id).sorted().prefix(limit))
    }

    func secret(of item: RowID) throws(KeychainError) -> [UInt8] {
        secretReads.count.add(1, ordering: .relaxed)
        return records.secrets[item] ?? []
    }
    func itemCount() throws(KeychainError) -> Int { records.itemRecords.count }
    func directoryCount() throws(KeychainError) -> Int { records.directoryRecords.count }

    func itemCounts(of generations: Set<KeyGeneration>) throws(KeychainError) -> [KeyGeneration: Int] {
        let keys = records.itemRecords.values.map { KeyGeneration($0.protection, $0.generation) }
        return Dictionary(grouping: keys.filter(generations.contains)) { $0 }.mapValues(\.count)
    }

    func itemIDs(
        of generations: Set<KeyGeneration>, after: RowID, limit: Int
    ) throws(KeychainError) -> [RowID] {
        let rows = records.itemRecords.values.filter {
            $0.id > after && generations.contains(KeyGeneration($0.protection, $0.generation))
        }
        return Array(rows.map(\.id).sorted().prefix(limit))
    }

    func itemIDs(of protection: Protection, limit: Int) throws(KeychainError) -> [RowID] {
        Array(records.itemRecords.values.filter { $0.protection == protection }.map(\.id).prefix(limit))
    }

    func newestRowID() throws(KeychainError) -> RowID {
        guard let id = records.newestRowID else { throw .decode }
        return id
    }

    func indexedRows(_ table: IndexedTable, after: RowID, limit: Int) throws(KeychainError) -> IndexedRows {
        let all = table == .item ? Array(records.itemRecords.keys) : Array(records.directoryRecords.keys)
        let page = all.filter { $0 > after }.sorted().prefix(limit)
        return IndexedRows(
            unindexed: page.filter(records.unindexedRows.contains), last: page.count < limit ? nil : page.last)
    }

    func indexEntries(after position: IndexPosition, limit: Int) throws(KeychainError) -> IndexEntries {
        IndexEntries(wrongEntries: 0, next: nil)
    }

    func rowsOfSharedTags(_ table: IndexedTable) throws(KeychainError) -> [[RowID]] { [] }

    func rebuildIndexes(_ separate: (any RecordWriter) throws(KeychainError) -> Void) throws(KeychainError) {
        records.unindexedRows = []
        try separate(self)
    }

    func put(_ store: StoreRecord) throws(KeychainError) { records.storeRecord = store }

    func put(_ header: Sealed, highestRow: RowID) throws(KeychainError) {
        guard records.storeRecord != nil else { throw .decode }
        records.storeRecord?.header = header
        records.storeRecord?.highestRow = highestRow
    }

    func put(_ slot: SlotRecord) throws(KeychainError) { records.slotRecords[slot.id] = slot }
    func put(_ device: DeviceRecord) throws(KeychainError) { records.deviceRecords[device.id] = device }

    func put(_ key: ClassKeyRecord) throws(KeychainError) {
        try deleteClassKey(key)
        records.classKeyRecords.append(key)
    }

    func damagedKeys() throws(KeychainError) -> DamagedKeys {
        var damaged = DamagedKeys()
        damaged.classKeys = records.damagedKeyCount
        return damaged
    }

    func put(_ key: UserKeyRecord) throws(KeychainError) { records.userKeyRecords[key.generation] = key }
    func deleteUserKey(_ generation: Int64) throws(KeychainError) { records.userKeyRecords[generation] = nil }

    func put(_ directory: DirectoryRecord) throws(KeychainError) { try records.put(directory) }

    func put(_ item: ItemRecord, secret: [UInt8]?) throws(KeychainError) { try records.put(item, secret: secret) }

    func deleteSlot(_ id: Int64) throws(KeychainError) { records.slotRecords[id] = nil }

    func deleteClassKey(_ key: ClassKeyRecord) throws(KeychainError) {
        records.classKeyRecords.removeAll {
            $0.purpose == key.purpose && $0.generation == key.generation && $0.device == key.device
                && $0.wrapping == key.wrapping
        }
    }

    func deleteDirectory(_ id: RowID) throws(KeychainError) { records.deleteDirectory(id) }
    func deleteItem(_ id: RowID) throws(KeychainError) { records.deleteItem(id) }
}
