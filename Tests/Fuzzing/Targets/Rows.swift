import FileSystemCore
import FileSystemTesting
import Keychain
import KeychainTesting
import SecretCrypto

/// S2, S4: the rows of a store, keys and sealed records, changed in any part. An input is a list of changes.
///
/// A read returns the written value or fails, and a changed store is never reported as intact.
extension FuzzTarget {
    static let rows = FuzzTarget("rows", limit: 96, cases: 60, examples: { rowExamples }) { input in
        let original = try MemoryKeychain.original.get()
        var records = original
        var reader = InputReader(input)
        while !reader.isAtEnd { RowChange(&reader).apply(to: &records) }
        guard records.isCheap else { return }
        let isChanged = !records.isEqual(to: original)
        guard let opened = try? MemoryKeychain(records), (try? opened.unlock()) != nil else {
            return try hold(isChanged, "a store that nobody has changed does not open")
        }
        let unread = try unreadPaths(opened.client)
        try hold(isChanged || unread == 0, "items that nobody has changed cannot be read")
        let report = try opened.keychain.check()
        try use(opened)
        try hold(
            isChanged != report.isConsistent,
            isChanged ? "a change that 'check' does not see" : "a fault out of nothing")
    }

    /// Uses a keychain with changed rows: an operation may fail, but must not lose or change other data.
    private static func use(_ opened: MemoryKeychain) throws {
        let (client, keychain) = (opened.client, opened.keychain)
        try? client.mkdir("/generic-passwords/new")
        try? client.put("/generic-passwords/new/item", [1, 2, 3])
        try? client.put("/generic-passwords/s/item", [1, 2, 3])
        _ = try? keychain.startRekey { () throws(KeychainFault) in
            try keychain.keys.userKey(with: UnlockSecret(passphrase: MemoryKeychain.typed()))
        }
        keychain.keys.lock()
        try? opened.unlock()
        _ = try unreadPaths(client)
        if let read = try? client.contents("/generic-passwords/new/item") {
            try hold(read.isEmpty || read == [1, 2, 3], "other bytes than were written")
        }
    }

    private static let rowExamples: [[UInt8]] =
        (0..<UInt8(RowChange.Kind.allCases.count)).flatMap { kind in
            (0..<8).map { [kind, 0, $0, 0, 5, 1] }
        } + [[]]

    /// Throws for a value that was never written; returns the number of items that cannot be read.
    private static func unreadPaths(_ client: PathClient) throws -> Int {
        var unread = 0
        for (path, bytes) in MemoryKeychain.contents {
            guard let read = try? client.contents(path) else {
                unread += 1
                continue
            }
            try hold(read == bytes, "other bytes than were written")
        }
        return unread
    }
}

/// A change of a row: its table, its number, the part, the position and the kind of change.
private struct RowChange {
    enum Kind: UInt8, CaseIterable {
        case item, secret, directory, slot, device, classKey, userKey, store, removal
    }

    let kind: Kind
    let row: Int
    let part: UInt8
    let place: Int
    let value: UInt8
    let selector: UInt8

    init(_ reader: inout InputReader) {
        kind = reader.pick(Kind.allCases) ?? .item
        row = Int(reader.byte())
        part = reader.byte()
        place = Int(reader.byte())
        value = reader.byte()
        selector = reader.byte()
    }

    func apply(to records: inout InMemoryRecords) {
        switch kind {
        case .item: item(&records)
        case .directory: directory(&records)
        case .secret: pick(records.secrets.keys.sorted()).map { change(&records.secrets[$0, default: []]) }
        case .slot: pick(records.slotRecords.keys.sorted()).map { slot(&records.slotRecords[$0]) }
        case .device:
            pick(records.deviceRecords.keys.sorted()).map { device(&records.deviceRecords[$0, default: .none]) }
        case .classKey: classKey(&records)
        case .userKey: break
        case .store: if var store = records.storeRecord { self.store(&store); records.storeRecord = store }
        case .removal: remove(&records)
        }
    }

    private func pick<Row>(_ rows: [Row]) -> Row? { rows.isEmpty ? nil : rows[row % rows.count] }

    // MARK: Parts

    private func change(_ bytes: inout [UInt8]) {
        switch selector % 4 {
        case 0 where !bytes.isEmpty: bytes[place % bytes.count] ^= value
        case 1 where !bytes.isEmpty: bytes.removeLast(min(bytes.count, Int(value)))
        case 2: bytes.append(value)
        default: bytes = [UInt8](repeating: value, count: place)
        }
    }

    private func change(_ nonceAndTag: inout NonceAndTag) {
        var bytes = nonceAndTag.bytes
        bytes[place % bytes.count] ^= value
        nonceAndTag = NonceAndTag(bytes: bytes) ?? nonceAndTag
    }

    private func change(_ sealed: inout Sealed) {
        var (nonceAndTag, ciphertext) = (sealed.nonceAndTag, sealed.ciphertext)
        if value % 2 == 0 { change(&nonceAndTag) } else { change(&ciphertext) }
        sealed = Sealed(nonceAndTag: nonceAndTag, ciphertext: ciphertext)
    }

    private func change(_ number: inout Int64) {
        switch selector % 3 {
        case 0: number = number &+ Int64(value)
        case 1: number = Int64(value) << Int64(place % 56)
        default: number = .max - Int64(value % 4)
        }
    }

    private func item(_ records: inout InMemoryRecords) {
        guard let id = pick(records.itemRecords.keys.sorted()), var item = records.itemRecords[id] else { return }
        let secret = records.secrets[id]
        var number: Int64
        switch part % 12 {
        case 0: number = item.version; change(&number); item.version = number
        case 1: number = item.generation; change(&number); item.generation = number
        case 2: number = item.directory.rawValue; change(&number); item.directory = RowID(rawValue: number)
        case 3: item.protection = ProtectionClass(rawValue: value) ?? item.protection
        case 4: change(&item.tag)
        case 5: change(&item.metadata)
        case 6:
            if item.secretSeals.count > 0 {
                let seal = place % item.secretSeals.count
                item.secretSeals.chunks[seal][place % ChunkSeals.sealCount] ^= value
            }
        case 7:
            number = id.rawValue
            change(&number)
            records.deleteItem(id)
            item.id = RowID(rawValue: number)
        case 8: item.masterKeyGeneration = Int64(value)
        case 9: item.secretRow = item.secretRow == nil ? RowID(rawValue: Int64(value)) : nil
        case 10: item.ephemeral = [UInt8](repeating: value, count: 32)
        default: item.alwaysTag = item.alwaysTag == nil ? [UInt8](repeating: value, count: 16) : nil
        }
        try? records.put(item, secret: secret)
    }

    private func directory(_ records: inout InMemoryRecords) {
        guard let id = pick(records.directoryRecords.keys.sorted()), var row = records.directoryRecords[id] else {
            return
        }
        var number: Int64
        switch part % 6 {
        case 0: number = row.version; change(&number); row.version = number
        case 1: change(&row.masterKeyGeneration)
        case 2: number = row.parent.rawValue; change(&number); row.parent = RowID(rawValue: number)
        case 3: change(&row.tag)
        case 4: change(&row.name)
        default: row.alwaysTag = row.alwaysTag == nil ? [UInt8](repeating: value, count: 16) : nil
        }
        try? records.put(row)
    }

    private func slot(_ slot: inout SlotRecord?) {
        guard var changed = slot else { return }
        switch part % 6 {
        case 0: changed.kind = SlotKind(rawValue: value) ?? changed.kind
        case 1: change(&changed.parameters)
        case 2: change(&changed.userKeyGeneration)
        case 3: change(&changed.ephemeral)
        case 4: change(&changed.userKey)
        default: change(&changed.recipient)
        }
        slot = changed
    }

    private func device(_ device: inout DeviceRecord) {
        switch part % 3 {
        case 0: change(&device.tag)
        case 1: change(&device.mark.commit)
        default: change(&device.mark.commitID)
        }
    }

    private func classKey(_ records: inout InMemoryRecords) {
        guard !records.classKeyRecords.isEmpty else { return }
        let index = row % records.classKeyRecords.count
        switch part % 5 {
        case 0: change(&records.classKeyRecords[index].generation)
        case 1: change(&records.classKeyRecords[index].device)
        case 2: change(&records.classKeyRecords[index].userKeyGeneration)
        case 3: records.classKeyRecords[index].wrapping = Wrapping(rawValue: value) ?? .userKey
        default: change(&records.classKeyRecords[index].keys)
        }
    }

    private func store(_ store: inout StoreRecord) {
        switch part % 10 {
        case 0: store.format = Int(value)
        case 1: change(&store.identifier)
        case 2: change(&store.salt)
        case 3: store.cost = Argon2id.Cost(passes: UInt64(value), memory: UInt64(place) << 10)
        case 4: change(&store.userKeyGeneration)
        case 5: change(&store.masterKeyGeneration)
        case 6: change(&store.masterKeys)
        case 7: change(&store.readerMask)
        case 8: change(&store.writerMask)
        default: change(&store.header)
        }
    }

    private func remove(_ records: inout InMemoryRecords) {
        switch part % 5 {
        case 0: pick(records.itemRecords.keys.sorted()).map { records.deleteItem($0) }
        case 1: pick(records.directoryRecords.keys.sorted()).map { records.deleteDirectory($0) }
        case 2: pick(records.slotRecords.keys.sorted()).map { records.slotRecords[$0] = nil }
        case 3: pick(records.deviceRecords.keys.sorted()).map { records.deviceRecords[$0] = nil }
        default:
            if !records.classKeyRecords.isEmpty {
                records.classKeyRecords.remove(at: row % records.classKeyRecords.count)
            }
        }
    }
}

extension DeviceRecord {
    fileprivate static let none = DeviceRecord(id: 0, tag: [])
}

extension InMemoryRecords {
    /// Whether opening it costs no time: what a key derivation may cost is tried elsewhere.
    fileprivate var isCheap: Bool {
        guard let cost = storeRecord?.cost else { return true }
        return cost.passes <= 4 && cost.memory <= 1 << 20
    }

    fileprivate func isEqual(to other: InMemoryRecords) -> Bool {
        storeRecord == other.storeRecord && slotRecords == other.slotRecords && deviceRecords == other.deviceRecords
            && classKeyRecords == other.classKeyRecords && userKeyRecords == other.userKeyRecords
            && directoryRecords == other.directoryRecords && itemRecords == other.itemRecords
            && secrets == other.secrets
    }
}
