import Foundation
import KeychainTesting
import SecretCrypto
import TestSupport
import Testing

@testable import Keychain

struct Contents: SecretSource {
    let bytes: [UInt8]
    var secretCount: Int { bytes.count }

    func readSecret(at offset: Int, into output: inout MutableRawSpan) throws(KeychainFault) -> Int {
        let source = bytes.rawSpan
        return try source.readSecret(at: offset, into: &output)
    }
}

/// A keychain on a store in memory, unlocked.
struct DigestFixture {
    let keyRingFixture: KeyRingFixture
    let keychain: KeychainStore
    let directory: RowID

    init() throws {
        keyRingFixture = try KeyRingFixture()
        keychain = KeychainStore(store: keyRingFixture.store, keys: keyRingFixture.ring, clock: { .sample })
        directory = try keychain.change { change throws(KeychainFault) in
            let container = try change.container(ContainerKey(itemClass: .genericPassword), file: .sample)
            return try change.addDirectory(
                .service(.generic(service: .string("mail"))), in: container.id, file: .sample
            ).id
        }
    }

    func item(_ account: String, _ protection: ProtectionClass = .whenUnlocked) throws(KeychainFault) -> Item {
        Item(
            id: try keychain.reserveRowID(), directory: directory, protection: protection, account: .string(account),
            creationDate: .sample, persistentReference: [UInt8](repeating: 7, count: 16), file: .sample)
    }

    @discardableResult
    func add(_ account: String, _ protection: ProtectionClass = .whenUnlocked) throws(KeychainFault) -> Item {
        var item = try item(account, protection)
        item.secretCount = 3
        return try keychain.change { [item] change throws(KeychainFault) in
            try change.save(item, secret: Contents(bytes: [1, 2, 3]))
        }
    }

    var header: StoreHeader {
        get throws {
            let record = try keyRingFixture.store.read { reader throws(KeychainFault) in try reader.store() }
            return try keyRingFixture.ring.header(of: record)
        }
    }

    /// The sums of all rows in the store.
    func sums() throws -> StoreSums {
        try keyRingFixture.store.records.sums(keyRingFixture.ring.ledger.digest())
    }
}

extension InMemoryRecords {
    /// The sums of all rows.
    func sums(_ digest: RowDigest) throws -> StoreSums {
        var sums = StoreSums()
        sums.keys = try digest.sum(#require(storeRecord))
        for slot in slotRecords.values { sums.keys += try digest.sum(slot) }
        for device in deviceRecords.values { sums.keys += try digest.sum(device) }
        for key in classKeyRecords { sums.keys += try digest.sum(key) }
        for key in userKeyRecords.values { sums.keys += try digest.sum(key) }
        for directory in directoryRecords.values { sums.rows += try digest.sum(directory) }
        for item in itemRecords.values { sums.rows += try digest.sum(item) }
        for past in pastRecords.values { sums.rows += try digest.sum(past) }
        for (key, tag) in itemKeys {
            sums.rows += try digest.sum(ItemKeyRecord(item: key.item, kind: key.kind, tag: tag))
        }
        return sums
    }
}

@Suite("S2: the digest of all rows")
struct DigestTests {
    @Test("S2: a sum of digests is a number modulo 2^256, to which every row belongs once")
    func arithmetic() throws {
        let all = [UInt8](repeating: 0xFF, count: 32)
        let one = try #require(DigestSum(count: 1, digest: [1] + [UInt8](repeating: 0, count: 31)))
        var sum = try #require(DigestSum(count: 4, digest: all))
        sum += one
        #expect(sum.digest == [UInt8](repeating: 0, count: 32) && sum.count == 5)
        sum -= one
        #expect(sum.digest == all && sum.count == 4)
        var carry = try #require(
            DigestSum(count: 0, digest: [UInt8](repeating: 0xFF, count: 8) + Array(repeating: 0, count: 24)))
        carry += one
        #expect(carry.digest == Array(repeating: 0, count: 8) + [1] + Array(repeating: 0, count: 23))
        #expect(DigestSum(count: 1, digest: [1]) == nil)
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<100 {
            func random() throws -> DigestSum {
                try #require(DigestSum(count: 1, digest: (0..<32).map { _ in .random(in: 0...255, using: &generator) }))
            }
            let (a, b, c) = (try random(), try random(), try random())
            var (left, right) = (a, c)
            left += b; left += c
            right += b; right += a
            #expect(left == right)
            left -= b
            right -= b
            #expect(left == right && left - c == a)
        }
    }

    @Test("S2: a new store has a header that is true, and its first commit is number 1")
    func creation() throws {
        let keyRingFixture = try KeyRingFixture()
        let keychain = KeychainStore(store: keyRingFixture.store, keys: keyRingFixture.ring, clock: { .sample })
        #expect(try keyRingFixture.ring.header(of: #require(keyRingFixture.store.records.storeRecord)).commit == 1)
        #expect(try keychain.verifyNow().rows == nil)
        // Another device enters itself at its first unlock.
        let other = try KeyRingFixture(copying: keyRingFixture.store.records, device: 2)
        try other.unlock()
        #expect(other.store.records.deviceRecords.count == 2)
        #expect(try other.ring.header(of: #require(other.store.records.storeRecord)).commit == 2)
        let elsewhere = KeychainStore(store: other.store, keys: other.ring, clock: { .sample })
        #expect(try elsewhere.verifyNow().rows == nil)
    }

    @Test("S2: after any operations the digest is the one computed from scratch", arguments: [1, 2, 3] as [UInt64])
    func property(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let fixture = try DigestFixture()
        var items: [Item] = []
        var commits = try fixture.header.commit
        for step in 0..<300 {
            try change(fixture, &items, step, &generator)
            commits += 1
            let header = try fixture.header
            #expect(header.commit == commits)
            #expect(header.sums == (try fixture.sums()), "after step \(step)")
            if step == 150 { fixture.keyRingFixture.ring.lock() }
            if step == 200 { try fixture.keyRingFixture.unlock() }
        }
        #expect(try fixture.keychain.verifyNow().rows == nil)
    }

    private func change(
        _ fixture: DigestFixture, _ items: inout [Item], _ step: Int, _ generator: inout SeededGenerator
    ) throws {
        let usable: [ProtectionClass] =
            step > 150 && step <= 200
            ? [.always, .afterFirstUnlock, .whenUnlockedUnlessOpen] : ProtectionClass.allCases
        let protection = try #require(usable.randomElement(using: &generator))
        let openable = items.indices.filter { fixture.keyRingFixture.ring.isAvailable(items[$0].protection) }
        let index = openable.randomElement(using: &generator)
        switch (Int.random(in: 0..<6, using: &generator), index) {
        case (0, let index?):
            let id = items.remove(at: index).id
            try fixture.keychain.change { change throws(KeychainFault) in try change.deleteItem(id) }
        case (1, let index?):
            var item = items[index]
            item.protection = protection
            items[index] = try fixture.keychain.change { [item] change throws(KeychainFault) in try change.save(item) }
        case (2, let index?):
            var item = items[index]
            item.secretCount = 5
            items[index] = try fixture.keychain.change { [item] change throws(KeychainFault) in
                try change.save(item, secret: Contents(bytes: [9, 9, 9, 9, 9]))
            }
        case (3, let first?):
            guard let second = openable.first(where: { $0 != first }) else { fallthrough }
            let (a, b) = (items[first].id, items[second].id)
            (items[first], items[second]) = try fixture.keychain.change { change throws(KeychainFault) in
                try change.exchange(a, b)
            }
        case (4, _):
            try fixture.keychain.change { change throws(KeychainFault) in try change.touchDirectory(fixture.directory) }
        default: items.append(try fixture.add("account \(step)", protection))
        }
    }

    @Test("S2, F4: a body or a commit that fails leaves the digest as it was")
    func failures() throws {
        let fixture = try DigestFixture()
        let item = try fixture.add("a")
        let before = try fixture.header
        #expect(throws: KeychainFault.authFailed) {
            try fixture.keychain.change { change throws(KeychainFault) in
                try change.deleteItem(item.id)
                throw KeychainFault.authFailed
            }
        }
        fixture.keyRingFixture.store.failNextWrite(with: .diskFull)
        #expect(throws: KeychainFault.diskFull) { try fixture.add("b") }
        #expect(try fixture.header == before)
        try fixture.add("c")
        #expect(try fixture.header.sums == fixture.sums())
        #expect(try fixture.header.commit == before.commit + 1)
    }

    @Test("S2: every readable column of every row counts, and so does every seal")
    func coverage() throws {
        let fixture = try DigestFixture()
        try fixture.add("a", .always)
        fixture.keyRingFixture.ring.lock()
        try fixture.add("b", .whenUnlockedUnlessOpen)
        try fixture.keyRingFixture.unlock()
        let records = fixture.keyRingFixture.store.records
        let digest = try fixture.keyRingFixture.ring.ledger.digest()
        let store = try #require(records.storeRecord)
        try expectAllDiffer(
            store, digest.sum,
            [
                { $0.format += 1 }, { $0.identifier = $0.identifier.flipped(3) }, { $0.salt = $0.salt.flipped(2) },
                { $0.cost = Argon2id.Cost(passes: 9, memory: $0.cost.memory) },
                { $0.cost = Argon2id.Cost(passes: $0.cost.passes, memory: 1 << 40) }, { $0.userKeyGeneration += 1 },
                { $0.masterKeyGeneration += 1 }, { $0.readerMask += 1 }, { $0.writerMask += 1 },
                { $0.masterKeys.nonceAndTag = flipped($0.masterKeys.nonceAndTag) },
                { $0.masterKeys.ciphertext = $0.masterKeys.ciphertext.flipped(1) },
            ])
        let slot = try #require(records.slotRecords[1])
        try expectAllDiffer(
            slot, digest.sum,
            [
                { $0.id += 1 }, { $0.kind = .recoveryKey }, { $0.userKeyGeneration += 1 },
                { $0.ephemeral = $0.ephemeral.flipped(3) }, { $0.parameters = [1] },
                { $0.userKey.nonceAndTag = flipped($0.userKey.nonceAndTag) },
                { $0.recipient.nonceAndTag = flipped($0.recipient.nonceAndTag) },
            ])
        let device = try #require(records.deviceRecords[1])
        try expectAllDiffer(device, digest.sum, [{ $0.id += 1 }, { $0.tag = $0.tag.flipped(1) }])
        let key = try #require(records.classKeyRecords.first)
        try expectAllDiffer(
            key, digest.sum,
            [
                { $0.purpose = .alwaysLookup }, { $0.generation += 1 }, { $0.device += 1 },
                { $0.wrapping = $0.wrapping == .userKey ? .deviceKey : .userKey },
                { $0.keys.nonceAndTag = flipped($0.keys.nonceAndTag) },
            ])
        let directory = try #require(records.directoryRecords[fixture.directory])
        try expectAllDiffer(
            directory, digest.sum,
            [
                { $0.id.rawValue += 1 }, { $0.parent.rawValue += 1 }, { $0.version += 1 },
                { $0.masterKeyGeneration += 1 }, { $0.tag = $0.tag.flipped(1) }, { $0.alwaysTag = nil },
                { $0.alwaysTag = $0.alwaysTag?.flipped(2) },
                { $0.name.nonceAndTag = flipped($0.name.nonceAndTag) },
                { $0.name.ciphertext = $0.name.ciphertext.flipped(1) }, { $0.alwaysName = nil },
            ])
        for item in records.itemRecords.values {
            try expectAllDiffer(
                item, digest.sum,
                [
                    { $0.id.rawValue += 1 }, { $0.directory.rawValue += 1 }, { $0.version += 1 },
                    { $0.protection = .afterFirstUnlockThisDeviceOnly }, { $0.generation += 1 },
                    { $0.tag = $0.tag.flipped(1) }, { $0.alwaysTag = $0.alwaysTag == nil ? [] : nil },
                    { $0.ephemeral = $0.ephemeral == nil ? [] : $0.ephemeral?.flipped(1) },
                    { $0.masterKeyGeneration = $0.masterKeyGeneration == nil ? 1 : nil },
                    { $0.secretRow = RowID(rawValue: 7) }, { $0.mac = $0.mac == nil ? [] : nil },
                    { $0.metadata.nonceAndTag = flipped($0.metadata.nonceAndTag) },
                    { $0.metadata.ciphertext = $0.metadata.ciphertext.flipped(1) },
                    { $0.secretSeals.chunks[0] = $0.secretSeals.chunks[0].flipped(71) },
                    { $0.secretSeals = ChunkSeals() },
                ])
        }
    }

    private func flipped(_ nonceAndTag: NonceAndTag) -> NonceAndTag {
        NonceAndTag(bytes: nonceAndTag.bytes.flipped(30)) ?? nonceAndTag
    }

    private func expectAllDiffer<Row>(
        _ row: Row, _ sum: (Row) throws(KeychainFault) -> DigestSum, _ changes: [(inout Row) -> Void]
    ) throws {
        var sums: Set<DigestSum> = [try sum(row)]
        for (index, change) in changes.enumerated() {
            var changed = row
            change(&changed)
            #expect(sums.insert(try sum(changed)).inserted, "\(Row.self): change \(index)")
        }
    }
}

@Suite("S3: names of directories that hold Always items")
struct AlwaysNameTests {
    @Test("S3: a directory and its container have an Always tag and name while they hold an Always item")
    func alwaysNames() throws {
        let fixture = try DigestFixture()
        let container = try #require(fixture.keyRingFixture.store.records.directoryRecords[fixture.directory]).parent
        func have() throws -> [Bool] {
            let records = fixture.keyRingFixture.store.records.directoryRecords
            return try [fixture.directory, container].map { id in
                let record = try #require(records[id])
                #expect((record.alwaysTag == nil) == (record.alwaysName == nil))
                return record.alwaysTag != nil
            }
        }
        #expect(try have() == [false, false])
        try fixture.add("plain")
        #expect(try have() == [false, false])
        let first = try fixture.add("first", .always)
        var second = try fixture.add("second", .alwaysThisDeviceOnly)
        #expect(try have() == [true, true])
        try fixture.keychain.change { change throws(KeychainFault) in try change.deleteItem(first.id) }
        #expect(try have() == [true, true])
        // Found before the first unlock, by the name under the Always keys.
        let locked = try KeyRingFixture(copying: fixture.keyRingFixture.store.records)
        let name = CanonicalName(service: .generic(service: .string("mail")))
        let record = try #require(locked.store.records.directoryRecords[fixture.directory])
        let tag = try locked.ring.directoryTag(.service(name, .genericPassword), in: record.parent, always: true)
        #expect(tag == record.alwaysTag)
        #expect(try locked.directories.open(record).key == .service(.generic(service: .string("mail"))))
        second.protection = .whenUnlocked
        second = try fixture.keychain.change { [second] change throws(KeychainFault) in try change.save(second) }
        #expect(try have() == [false, false])
        #expect(try fixture.keychain.verifyNow().rows == nil)
    }
}
