internal import Keychain
import Synchronization

/// Reads and changes of one transaction, on its own copy of the rows. Used by one thread.
final class InMemoryTransaction: RecordWriter {
    var records: InMemoryRecords
    let secretReads: SecretReads

    init(_ records: InMemoryRecords, _ secretReads: SecretReads) {
        self.records = records
        self.secretReads = secretReads
    }

    func store() throws(KeychainFault) -> StoreRecord {
        guard let record = records.storeRecord else { throw .notAKeychain }
        return record
    }

    func slots() throws(KeychainFault) -> [SlotRecord] { records.slotRecords.values.sorted { $0.id < $1.id } }
    func devices() throws(KeychainFault) -> [DeviceRecord] { records.deviceRecords.values.sorted { $0.id < $1.id } }
    func classKeys() throws(KeychainFault) -> [ClassKeyRecord] { records.classKeyRecords }
    func userKeys() throws(KeychainFault) -> [UserKeyRecord] {
        records.userKeyRecords.values.sorted { $0.generation < $1.generation }
    }

    func directory(id: RowID) throws(KeychainFault) -> DirectoryRecord? { records.directoryRecords[id] }

    func directory(tag: [UInt8], always: Bool) throws(KeychainFault) -> DirectoryRecord? {
        records.directory(tag: tag, always: always)
    }

    func directories(parent: RowID, after: RowID, limit: Int) throws(KeychainFault) -> [DirectoryRecord] {
        let rows = records.directoryRecords.values.filter { $0.parent == parent && $0.id > after }
        return Array(rows.sorted { $0.id < $1.id }.prefix(limit))
    }

    func item(id: RowID) throws(KeychainFault) -> ItemRecord? { records.itemRecords[id] }

    func item(tag: [UInt8], always: Bool) throws(KeychainFault) -> ItemRecord? {
        records.item(tag: tag, always: always)
    }

    func items(directory: RowID, after: RowID, limit: Int) throws(KeychainFault) -> [ItemRecord] {
        let rows = records.itemRecords.values.filter { $0.directory == directory && $0.id > after }
        return Array(rows.sorted { $0.id < $1.id }.prefix(limit))
    }

    func itemIDs(directory: RowID, after: RowID, limit: Int) throws(KeychainFault) -> [RowID] {
        try items(directory: directory, after: after, limit: limit).map(\.id)
    }

    func items(after: RowID, limit: Int) throws(KeychainFault) -> [ItemRecord] {
        let ids = records.itemRecords.keys.filter { $0 > after }.sorted().prefix(limit)
        return ids.compactMap { records.itemRecords[$0] }
    }

    func itemIDs(after: RowID, limit: Int) throws(KeychainFault) -> [RowID] {
        try items(after: after, limit: limit).map(\.id)
    }

    func directoryIDs(parent: RowID, after: RowID, limit: Int) throws(KeychainFault) -> [RowID] {
        try directories(parent: parent, after: after, limit: limit).map(\.id)
    }

    func directoryIDs(after: RowID, limit: Int) throws(KeychainFault) -> [RowID] {
        try directories(after: after, limit: limit).map(\.id)
    }

    func itemWithSecret(id: RowID) throws(KeychainFault) -> (item: ItemRecord, secret: [UInt8])? {
        try item(id: id).map { (record) throws(KeychainFault) in (record, try secret(of: id)) }
    }

    func directories(after: RowID, limit: Int) throws(KeychainFault) -> [DirectoryRecord] {
        let ids = records.directoryRecords.keys.filter { $0 > after }.sorted().prefix(limit)
        return ids.compactMap { records.directoryRecords[$0] }
    }

    func holdsAlwaysDirectory(_ parent: RowID) throws(KeychainFault) -> Bool {
        records.directoryRecords.values.contains { $0.parent == parent && $0.alwaysTag != nil }
    }

    func holdsAlwaysItem(_ directory: RowID) throws(KeychainFault) -> Bool {
        records.itemRecords.values.contains { $0.directory == directory && $0.alwaysTag != nil }
    }

    func itemClasses(below directory: RowID) throws(KeychainFault) -> [(protection: ProtectionClass, generation: Int64)]
    {
        var below: Set<RowID> = [directory]
        while true {
            let next = records.directoryRecords.values.filter { below.contains($0.parent) }.map(\.id)
            guard !below.isSuperset(of: next) else { break }
            below.formUnion(next)
        }
        var found: [(protection: ProtectionClass, generation: Int64)] = []
        for item in records.itemRecords.values where below.contains(item.directory) {
            if found.contains(where: { $0 == (item.protection, item.generation) }) { continue }
            found.append((item.protection, item.generation))
        }
        return found
    }

    func ephemeralItems(after: RowID, limit: Int) throws(KeychainFault) -> [RowID] {
        let rows = records.itemRecords.values.filter { $0.ephemeral != nil && $0.id > after }
        return Array(rows.map(\.id).sorted().prefix(limit))
    }

    func secret(of item: RowID) throws(KeychainFault) -> [UInt8] {
        secretReads.count.add(1, ordering: .relaxed)
        return records.secrets[item] ?? []
    }
    func itemCount() throws(KeychainFault) -> Int { records.itemRecords.count }
    func directoryCount() throws(KeychainFault) -> Int { records.directoryRecords.count }

    func itemCounts(of generations: Set<KeyGeneration>) throws(KeychainFault) -> [KeyGeneration: Int] {
        let keys = records.itemRecords.values.map { KeyGeneration($0.protection, $0.generation) }
        return Dictionary(grouping: keys.filter(generations.contains)) { $0 }.mapValues(\.count)
    }

    func rowCounts(of old: OldKeys) throws(KeychainFault) -> OldRowCounts {
        OldRowCounts(
            items: try itemIDs(of: old, after: .none, limit: .max).count,
            directories: try directoryIDs(of: old, after: .none, limit: .max).count,
            past: try pastIDs(of: old, after: .none, limit: .max).count)
    }

    func itemIDs(of old: OldKeys, after: RowID, limit: Int) throws(KeychainFault) -> [RowID] {
        let rows = records.itemRecords.values.filter {
            old.generations.contains(KeyGeneration($0.protection, $0.generation))
                || ($0.masterKeyGeneration ?? .max) < old.masterGeneration
        }
        return Array(rows.map(\.id).filter { $0 > after }.sorted().prefix(limit))
    }

    func directoryIDs(of old: OldKeys, after: RowID, limit: Int) throws(KeychainFault) -> [RowID] {
        let rows = records.directoryRecords.values.filter { $0.masterKeyGeneration < old.masterGeneration }
        return Array(rows.map(\.id).filter { $0 > after }.sorted().prefix(limit))
    }

    func itemIDs(of protection: ProtectionClass, limit: Int) throws(KeychainFault) -> [RowID] {
        Array(records.itemRecords.values.filter { $0.protection == protection }.map(\.id).prefix(limit))
    }

    func firstUnusedRowID(from next: RowID) throws(KeychainFault) -> RowID {
        guard let id = records.firstUnusedRowID(from: next) else { throw .decode }
        return id
    }

    func indexedRows(_ table: IndexedTable, after: RowID, limit: Int) throws(KeychainFault) -> IndexedRows {
        let all: [RowID] =
            switch table {
            case .directory: Array(records.directoryRecords.keys)
            case .item: Array(records.itemRecords.keys)
            case .past: Array(records.pastRecords.keys)
            case .itemKey: Array(Set(records.itemKeys.keys.map(\.item)))
            }
        let page = all.filter { $0 > after }.sorted().prefix(limit)
        return IndexedRows(
            unindexed: page.filter(records.unindexedRows.contains), last: page.count < limit ? nil : page.last)
    }

    func indexEntries(after position: IndexPosition, limit: Int) throws(KeychainFault) -> IndexEntries {
        IndexEntries(wrongEntries: 0, next: nil)
    }

    func rowsOfSharedTags(_ table: IndexedTable) throws(KeychainFault) -> [[RowID]] { [] }

    func rebuildIndexes(_ separate: (any RecordWriter) throws(KeychainFault) -> Void) throws(KeychainFault) {
        records.unindexedRows = []
        try separate(self)
    }

    func put(_ store: StoreRecord) throws(KeychainFault) { records.storeRecord = store }

    func put(_ header: Sealed) throws(KeychainFault) {
        guard records.storeRecord != nil else { throw .decode }
        records.storeRecord?.header = header
    }

    func put(_ slot: SlotRecord) throws(KeychainFault) { records.slotRecords[slot.id] = slot }
    func put(_ device: DeviceRecord) throws(KeychainFault) { records.deviceRecords[device.id] = device }

    func put(_ key: ClassKeyRecord) throws(KeychainFault) {
        try deleteClassKey(key)
        records.classKeyRecords.append(key)
    }

    func damagedKeys() throws(KeychainFault) -> DamagedKeys {
        var damaged = DamagedKeys()
        damaged.classKeys = records.damagedKeyCount
        return damaged
    }

    func put(_ key: UserKeyRecord) throws(KeychainFault) { records.userKeyRecords[key.generation] = key }
    func deleteUserKey(_ generation: Int64) throws(KeychainFault) { records.userKeyRecords[generation] = nil }

    func put(_ directory: DirectoryRecord) throws(KeychainFault) { try records.put(directory) }

    func put(_ item: ItemRecord, secret: [UInt8]?) throws(KeychainFault) {
        if let secret {
            guard (secret.count > ItemRecord.longestShortSecret) == (item.secretRow != nil) else { throw .param }
        }
        try records.put(item, secret: secret)
    }

    func deleteSlot(_ id: Int64) throws(KeychainFault) { records.slotRecords[id] = nil }

    func deleteClassKey(_ key: ClassKeyRecord) throws(KeychainFault) {
        records.classKeyRecords.removeAll {
            $0.purpose == key.purpose && $0.generation == key.generation && $0.device == key.device
                && $0.wrapping == key.wrapping
        }
    }

    func deleteDirectory(_ id: RowID) throws(KeychainFault) { records.deleteDirectory(id) }
    func deleteItem(_ id: RowID) throws(KeychainFault) {
        records.deleteItem(id)
        records.itemKeys = records.itemKeys.filter { $0.key.item != id }
    }
}
