import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain

@Suite("M2: past values")
struct PastValueTests {
    private let fixture: DigestFixture
    private var store: InMemoryRecordStore { fixture.keyRingFixture.store }
    private var keychain: KeychainStore { fixture.keychain }

    init() throws { fixture = try DigestFixture() }

    /// Adds an item of each class and makes it past. Returns the items by the rows of the past values.
    private func filled() throws -> [RowID: Item] {
        var items: [RowID: Item] = [:]
        for protection in ProtectionClass.allCases {
            let item = try fixture.add("\(protection)", protection)
            items[try keychain.makePast(item.id)] = item
        }
        return items
    }

    private func expect(
        _ items: [RowID: Item], in keychain: KeychainStore, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for (id, item) in items {
            let found = try #require(try keychain.past(id), sourceLocation: sourceLocation)
            #expect(found.item == item, sourceLocation: sourceLocation)
            #expect(try found.secret?.all() == [1, 2, 3], sourceLocation: sourceLocation)
            #expect(found.info.reason == .deleted && found.info.storeTime == 7, sourceLocation: sourceLocation)
        }
    }

    @Test("A past value of each class is counted, verified and opened; the sums and the number of bytes contain it")
    func kept() throws {
        let items = try filled()
        try expect(items, in: keychain)
        #expect(try fixture.sums() == fixture.header.sums)
        let bytes = try store.read { (reader) throws(KeychainFault) in try reader.pastBytes() }
        #expect(try fixture.header.past.bytes == bytes && bytes > Int64(items.count * (512 + 256 + 64)))
        let report = try keychain.check()
        #expect(report.isConsistent && report.pastValues == items.count)
        #expect(try keychain.itemCount() == 0)
        let first = try #require(items.keys.min())
        try keychain.change { (transaction) throws(KeychainFault) in try transaction.writer.deletePast(first) }
        #expect(try fixture.sums() == fixture.header.sums)
        #expect(try fixture.header.past.bytes < bytes)
        #expect(try keychain.check().isConsistent)
    }

    @Test("V1: the info opens while locked, because it needs no class key; the value does not")
    func locked() throws {
        let items = try filled()
        keychain.lock()
        for (id, item) in items {
            let record = try #require(store.records.pastRecords[id])
            let info = try keychain.pastEnvelope.open(record)
            #expect(info.origin.id == item.id && info.place.itemClass == .genericPassword)
            guard item.protection.availability == .unlocked else { continue }
            #expect(throws: KeychainFault.interactionNotAllowed) { try keychain.past(id) }
        }
        #expect(try keychain.check().isConsistent)
    }

    @Test(
        "H4: a past row that is copied into an item's row does not open with any nonce and tag that the file contains")
    func restored() throws {
        let item = try fixture.add("alice")
        let past = try keychain.makePast(item.id, isKept: true)
        let record = try #require(store.records.pastRecords[past])
        let row = try #require(store.records.itemRecords[item.id])
        let newer = try keychain.change { (transaction) throws(KeychainFault) in
            var item = item
            item.secretCount = 1
            return try transaction.save(item, secret: Contents(bytes: [9]))
        }
        let present = try #require(store.records.itemRecords[item.id])
        let zero = try #require(NonceAndTag(bytes: [UInt8](repeating: 0, count: NonceAndTag.byteCount)))
        for nonceAndTag in [zero, present.metadata.nonceAndTag, record.info.nonceAndTag] {
            for version in [item.version, newer.version] {
                var forged = present
                forged.version = version
                forged.metadata = Sealed(nonceAndTag: nonceAndTag, ciphertext: record.metadata)
                forged.secretSeals = record.secretSeals
                try store.records.put(forged, secret: store.records.secrets[past])
                keychain.cache.dropAll()
                #expect(throws: KeychainFault.decode) { try keychain.item(id: item.id) }
                #expect(try keychain.verifyNow().rows == .rowsReplaced)
                #expect(try keychain.check().damagedItems == [item.id])
            }
        }
        // With the nonce and tag that the info contains, it is the row as it was, which the sums report.
        let info = try keychain.pastEnvelope.open(record)
        #expect(keychain.pastEnvelope.row(of: record, info) == row)
        try store.records.put(row, secret: store.records.secrets[past])
        #expect(try keychain.verifyNow().rows == .rowsReplaced)
    }

    @Test("R53: a past row with any changed column does not open, and is reported; other values stay")
    func tampered() throws {
        let items = try filled()
        let good = store.records
        let changes: [(inout PastRecord) -> Void] = [
            { $0.protection = .afterFirstUnlock }, { $0.protection = .whenUnlocked }, { $0.generation += 1 },
            { $0.masterKeyGeneration += 1 }, { $0.tag[0] ^= 1 }, { $0.info.ciphertext[0] ^= 1 },
            { $0.info.nonceAndTag = NonceAndTag(bytes: $0.info.nonceAndTag.bytes.flipped(0)) ?? $0.info.nonceAndTag },
            { $0.metadata[0] ^= 1 }, { $0.metadata = [] }, { $0.secretSeals = ChunkSeals() },
            { $0.secretSeals.chunks.append([UInt8](repeating: 0, count: ChunkSeals.sealCount)) },
        ]
        for id in items.keys {
            for (number, change) in changes.enumerated() {
                store.records = good
                var record = try #require(good.pastRecords[id])
                change(&record)
                guard record != good.pastRecords[id] else { continue }
                store.records.pastRecords[id] = record
                #expect(throws: KeychainFault.decode, "\(number)") { try keychain.past(id) }
                let report = try keychain.check()
                #expect(report.damagedPast == [id] && report.rowFault == .rowsReplaced, "\(number)")
                #expect(report.pastValues == items.count - 1)
            }
            store.records = good
            store.records.secrets[id]?[0] ^= 1
            #expect(try keychain.check().damagedPast == [id])
        }
        store.records = good
        let ids = items.keys.sorted()
        store.records.pastRecords[ids[0]]?.info = try #require(good.pastRecords[ids[1]]).info
        #expect(try keychain.check().damagedPast == [ids[0]])
    }

    @Test("S2: missing, additional and older past rows and item keys are reported")
    func faults() throws {
        let items = try filled()
        let owner = try fixture.add("owner")
        try keychain.addItemKeys(
            to: owner.id, tags: [[UInt8](repeating: 1, count: 16), [UInt8](repeating: 2, count: 16)])
        #expect(try fixture.sums() == fixture.header.sums)
        let good = store.records
        let id = try #require(items.keys.first)
        let key = ItemKeyRecord.Position(item: owner.id, kind: 2)
        func fault(_ damage: (inout InMemoryRecords) -> Void) throws -> IntegrityFault? {
            store.records = good
            damage(&store.records)
            return try keychain.verifyNow().rows
        }
        #expect(try fault { _ in } == nil)
        #expect(try fault { $0.pastRecords[id] = nil } == .rowsMissing(1))
        #expect(try fault { $0.pastRecords[RowID(rawValue: 5000)] = good.pastRecords[id] } == .rowsAdded(1))
        #expect(try fault { $0.itemKeys[key] = nil } == .rowsMissing(1))
        #expect(try fault { $0.itemKeys[key]?[0] ^= 1 } == .rowsReplaced)
        #expect(
            try fault { $0.itemKeys[.init(item: owner.id, kind: 3)] = [UInt8](repeating: 3, count: 16) }
                == .rowsAdded(1))
        store.records = good
        try keychain.change { (transaction) throws(KeychainFault) in try transaction.deleteItem(owner.id) }
        #expect(store.records.itemKeys.isEmpty)
        #expect(try fixture.sums() == fixture.header.sums)
        #expect(try keychain.verifyNow().rows == nil)
    }

    @Test("S2: an integrity scan that commits interrupt counts past values and item keys once")
    func scan() throws {
        var items = try filled()
        var owners = try (0..<5).map { try fixture.add("owner \($0)") }
        let pass = IntegrityScan(store, ledger: fixture.keyRingFixture.ring.ledger, pageSize: 2)
        var steps = 0
        while true {
            if case .finished(let fault) = try pass.step() {
                #expect(fault == nil)
                break
            }
            steps += 1
            try #require(steps < 200)
            let owner = owners[steps % owners.count]
            try keychain.addItemKeys(
                to: owner.id, tags: [1, 2].map { [UInt8](repeating: UInt8(steps) ^ $0, count: 16) })
            if steps % 3 == 0, let id = items.keys.sorted().dropFirst(2).first {
                try keychain.change { (transaction) throws(KeychainFault) in try transaction.writer.deletePast(id) }
                items[id] = nil
            }
            if steps % 7 == 0 {
                let removed = owners.removeFirst().id
                try keychain.change { (transaction) throws(KeychainFault) in try transaction.deleteItem(removed) }
                let added = try fixture.add("new \(steps)")
                items[try keychain.makePast(added.id)] = added
                owners.append(try fixture.add("next \(steps)"))
            }
        }
        #expect(steps > 10)
        #expect(try fixture.sums() == fixture.header.sums)
    }
}
