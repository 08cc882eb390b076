package import Keychain

/// All rows of a store in memory: the state that a transaction works on, copied at its begin.
package struct InMemoryRecords: Sendable {
    private struct Tag: Hashable, Sendable {
        var bytes: [UInt8]
        var isAlways: Bool
    }

    package var storeRecord: StoreRecord?
    package var slotRecords: [Int64: SlotRecord] = [:]
    package var deviceRecords: [Int64: DeviceRecord] = [:]
    package var classKeyRecords: [ClassKeyRecord] = []
    package var userKeyRecords: [Int64: UserKeyRecord] = [:]
    /// Rows of keys that a real store could not read.
    package var damagedKeyCount = 0
    /// Rows that a real store would not find through an index. This store finds them nevertheless.
    package var unindexedRows: Set<RowID> = []
    package private(set) var directoryRecords: [RowID: DirectoryRecord] = [:]
    package private(set) var itemRecords: [RowID: ItemRecord] = [:]
    package var secrets: [RowID: [UInt8]] = [:]
    package var pastRecords: [RowID: PastRecord] = [:]
    package var itemKeys: [ItemKeyRecord.Position: [UInt8]] = [:]
    private var directoryTags: [Tag: RowID] = [:]
    private var itemTags: [Tag: RowID] = [:]

    package init() {}

    /// Returns an unused row number that unused ones follow, or nil if all larger numbers are used.
    func firstUnusedRowID(from next: RowID) -> RowID? {
        let end = RowID(rawValue: RowID.lastUsual.rawValue + RowID.tableCapacity)
        let last = RowID(rawValue: next.rawValue - 1)
        let secretRows = itemRecords.values.compactMap(\.secretRow) + pastRecords.values.compactMap(\.secretRow)
        let rows = Array(directoryRecords.keys) + Array(itemRecords.keys) + Array(pastRecords.keys)
        let used = ([last] + rows + secretRows).filter { $0 < end }.sorted()
        guard let highest = used.last, highest >= .lastUsual else { return used.last?.next }
        let followers = used.dropFirst() + [end]
        return zip(used, followers).reversed().first {
            $1.rawValue - $0.rawValue > RowID.tableCapacity && $0 >= last
        }?.0.next
    }

    func directory(tag: [UInt8], always: Bool) -> DirectoryRecord? {
        directoryTags[Tag(bytes: tag, isAlways: always)].flatMap { directoryRecords[$0] }
    }

    func item(tag: [UInt8], always: Bool) -> ItemRecord? {
        itemTags[Tag(bytes: tag, isAlways: always)].flatMap { itemRecords[$0] }
    }

    package mutating func put(_ directory: DirectoryRecord) throws(KeychainFault) {
        let tags = Self.tags(directory.tag, directory.alwaysTag)
        guard tags.allSatisfy({ directoryTags[$0, default: directory.id] == directory.id }) else {
            throw .duplicateItem
        }
        deleteDirectory(directory.id)
        directoryRecords[directory.id] = directory
        for tag in tags { directoryTags[tag] = directory.id }
    }

    package mutating func put(_ item: ItemRecord, secret: [UInt8]?) throws(KeychainFault) {
        let tags = Self.tags(item.tag, item.alwaysTag)
        guard tags.allSatisfy({ itemTags[$0, default: item.id] == item.id }) else { throw .duplicateItem }
        let kept = secrets[item.id]
        deleteItem(item.id)
        itemRecords[item.id] = item
        secrets[item.id] = secret ?? kept
        for tag in tags { itemTags[tag] = item.id }
    }

    package mutating func deleteDirectory(_ id: RowID) {
        guard let old = directoryRecords.removeValue(forKey: id) else { return }
        for tag in Self.tags(old.tag, old.alwaysTag) { directoryTags[tag] = nil }
    }

    package mutating func deleteItem(_ id: RowID) {
        secrets[id] = nil
        guard let old = itemRecords.removeValue(forKey: id) else { return }
        for tag in Self.tags(old.tag, old.alwaysTag) { itemTags[tag] = nil }
    }

    private static func tags(_ tag: [UInt8], _ alwaysTag: [UInt8]?) -> [Tag] {
        [Tag(bytes: tag, isAlways: false)] + (alwaysTag.map { [Tag(bytes: $0, isAlways: true)] } ?? [])
    }
}
