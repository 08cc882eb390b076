import Foundation
import KeychainTesting
import SecretCrypto
import TestSupport
import Testing

@testable import Keychain

struct Contents: SecretSource {
    let bytes: [UInt8]
    var secretCount: Int { bytes.count }

    func readSecret(at offset: Int, into output: inout MutableRawSpan) throws(KeychainError) -> Int {
        let source = bytes.rawSpan
        return try source.readSecret(at: offset, into: &output)
    }
}

/// A keychain on a store in memory, unlocked.
struct Vault {
    let bench: Bench
    let keychain: Keychain
    let directory: RowID

    init() throws {
        bench = try Bench()
        keychain = try Keychain(store: bench.store, keys: bench.ring, clock: { .sample })
        directory = try keychain.change { change throws(KeychainError) in
            let container = try change.container(ContainerKey(itemClass: .genericPassword), file: .sample)
            return try change.addDirectory(
                .service(.generic(service: .string("mail"))), in: container.id, file: .sample
            ).id
        }
    }

    func item(_ account: String, _ protection: Protection = .whenUnlocked) -> Item {
        Item(
            id: keychain.reserveRowID(), directory: directory, protection: protection, account: .string(account),
            creationDate: .sample, persistentReference: [UInt8](repeating: 7, count: 16), file: .sample)
    }

    @discardableResult
    func add(_ account: String, _ protection: Protection = .whenUnlocked) throws -> Item {
        var item = item(account, protection)
        item.secretCount = 3
        return try keychain.change { [item] change throws(KeychainError) in
            try change.save(item, secret: Contents(bytes: [1, 2, 3]))
        }
    }

    var header: StoreHeader {
        get throws {
            let record = try bench.store.read { reader throws(KeychainError) in try reader.store() }
            return try bench.ring.header(of: record)
        }
    }

    /// From scratch: all rows that there are.
    func sum() throws -> RowSum {
        let digest = try bench.ring.ledger.digest()
        let records = bench.store.records
        var sum = try digest.sum(#require(records.storeRecord))
        for slot in records.slotRecords.values { sum += try digest.sum(slot) }
        for device in records.deviceRecords.values { sum += try digest.sum(device) }
        for key in records.classKeyRecords { sum += try digest.sum(key) }
        for directory in records.directoryRecords.values { sum += try digest.sum(directory.head) }
        for item in records.itemRecords.values { sum += try digest.sum(item.head) }
        return sum
    }
}

@Suite("S2: the digest of all rows")
struct DigestTests {
    @Test("S2: a sum of digests is a number modulo 2^256, to which every row belongs once")
    func arithmetic() throws {
        let all = [UInt8](repeating: 0xFF, count: 32)
        let one = try #require(RowSum(count: 1, digest: [1] + [UInt8](repeating: 0, count: 31)))
        var sum = try #require(RowSum(count: 4, digest: all))
        sum += one
        #expect(sum.digest == [UInt8](repeating: 0, count: 32) && sum.count == 5)
        sum -= one
        #expect(sum.digest == all && sum.count == 4)
        var carry = try #require(
            RowSum(count: 0, digest: [UInt8](repeating: 0xFF, count: 8) + Array(repeating: 0, count: 24)))
        carry += one
        #expect(carry.digest == Array(repeating: 0, count: 8) + [1] + Array(repeating: 0, count: 23))
        #expect(RowSum(count: 1, digest: [1]) == nil)
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<100 {
            func random() throws -> RowSum {
                try #require(RowSum(count: 1, digest: (0..<32).map { _ in .random(in: 0...255, using: &generator) }))
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
        let bench = try Bench()
        let keychain = try Keychain(store: bench.store, keys: bench.ring, clock: { .sample })
        #expect(try bench.ring.header(of: #require(bench.store.records.storeRecord)).commit == 1)
        #expect(try keychain.verifyNow().rows == nil)
        // Another device enters itself at its first unlock.
        let other = try Bench(copying: bench.store.records, device: 2)
        try other.unlock()
        #expect(other.store.records.deviceRecords.count == 2)
        #expect(try other.ring.header(of: #require(other.store.records.storeRecord)).commit == 2)
        let elsewhere = try Keychain(store: other.store, keys: other.ring, clock: { .sample })
        #expect(try elsewhere.verifyNow().rows == nil)
    }

    @Test("S2: after any operations the digest is the one computed from scratch", arguments: [1, 2, 3] as [UInt64])
    func property(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let vault = try Vault()
        var items: [Item] = []
        var commits = try vault.header.commit
        for step in 0..<300 {
            try change(vault, &items, step, &generator)
            commits += 1
            let header = try vault.header
            #expect(header.commit == commits)
            #expect(header.rows == (try vault.sum()), "after step \(step)")
            if step == 150 { vault.bench.ring.lock() }
            if step == 200 { try vault.bench.unlock() }
        }
        #expect(try vault.keychain.verifyNow().rows == nil)
    }

    private func change(
        _ vault: Vault, _ items: inout [Item], _ step: Int, _ generator: inout SeededGenerator
    ) throws {
        let usable: [Protection] =
            step > 150 && step <= 200
            ? [.always, .afterFirstUnlock, .whenUnlockedUnlessOpen] : Protection.allCases
        let protection = try #require(usable.randomElement(using: &generator))
        let openable = items.indices.filter { vault.bench.ring.isAvailable(items[$0].protection) }
        let index = openable.randomElement(using: &generator)
        switch (Int.random(in: 0..<6, using: &generator), index) {
        case (0, let index?):
            let id = items.remove(at: index).id
            try vault.keychain.change { change throws(KeychainError) in try change.deleteItem(id) }
        case (1, let index?):
            var item = items[index]
            item.protection = protection
            items[index] = try vault.keychain.change { [item] change throws(KeychainError) in try change.save(item) }
        case (2, let index?):
            var item = items[index]
            item.secretCount = 5
            items[index] = try vault.keychain.change { [item] change throws(KeychainError) in
                try change.save(item, secret: Contents(bytes: [9, 9, 9, 9, 9]))
            }
        case (3, let first?):
            guard let second = openable.first(where: { $0 != first }) else { fallthrough }
            let (a, b) = (items[first].id, items[second].id)
            (items[first], items[second]) = try vault.keychain.change { change throws(KeychainError) in
                try change.exchange(a, b)
            }
        case (4, _):
            try vault.keychain.change { change throws(KeychainError) in try change.touchDirectory(vault.directory) }
        default: items.append(try vault.add("account \(step)", protection))
        }
    }

    @Test("S2, F4: a body or a commit that fails leaves the digest as it was")
    func failures() throws {
        let vault = try Vault()
        let item = try vault.add("a")
        let before = try vault.header
        #expect(throws: KeychainError.authFailed) {
            try vault.keychain.change { change throws(KeychainError) in
                try change.deleteItem(item.id)
                throw KeychainError.authFailed
            }
        }
        vault.bench.store.failNextWrite(with: .diskFull)
        #expect(throws: KeychainError.diskFull) { try vault.add("b") }
        #expect(try vault.header == before)
        try vault.add("c")
        #expect(try vault.header.rows == vault.sum())
        #expect(try vault.header.commit == before.commit + 1)
    }

    @Test("S2: every readable column of every row counts, and so does every seal")
    func coverage() throws {
        let vault = try Vault()
        try vault.add("a", .always)
        vault.bench.ring.lock()
        try vault.add("b", .whenUnlockedUnlessOpen)
        try vault.bench.unlock()
        let records = vault.bench.store.records
        let digest = try vault.bench.ring.ledger.digest()
        let store = try #require(records.storeRecord)
        try expectAllDiffer(
            store, digest.sum,
            [
                { $0.format += 1 }, { $0.identifier = $0.identifier.flipped(3) }, { $0.salt = $0.salt.flipped(2) },
                { $0.cost = Argon2id.Cost(passes: 9, memory: $0.cost.memory) },
                { $0.cost = Argon2id.Cost(passes: $0.cost.passes, memory: 1 << 40) }, { $0.userKeyGeneration += 1 },
                { $0.highestRow.rawValue += 1 }, { $0.masterKeys.seal = flipped($0.masterKeys.seal) },
            ])
        let slot = try #require(records.slotRecords[1])
        try expectAllDiffer(
            slot, digest.sum,
            [
                { $0.id += 1 }, { $0.kind = .recoveryKey }, { $0.userKeyGeneration += 1 },
                { $0.ephemeral = $0.ephemeral.flipped(3) }, { $0.parameters = [1] },
                { $0.userKey.seal = flipped($0.userKey.seal) }, { $0.recipient.seal = flipped($0.recipient.seal) },
            ])
        let device = try #require(records.deviceRecords[1])
        try expectAllDiffer(device, digest.sum, [{ $0.id += 1 }, { $0.tag = $0.tag.flipped(1) }])
        let key = try #require(records.classKeyRecords.first)
        try expectAllDiffer(
            key, digest.sum,
            [
                { $0.purpose = .alwaysLookup }, { $0.generation += 1 }, { $0.device += 1 },
                { $0.wrapping = $0.wrapping == .userKey ? .deviceKey : .userKey },
                { $0.keys.seal = flipped($0.keys.seal) },
            ])
        let directory = try #require(records.directoryRecords[vault.directory]).head
        try expectAllDiffer(
            directory, digest.sum,
            [
                { $0.id.rawValue += 1 }, { $0.parent.rawValue += 1 }, { $0.version += 1 }, { $0.generation += 1 },
                { $0.tag = $0.tag.flipped(1) }, { $0.alwaysTag = nil }, { $0.alwaysTag = $0.alwaysTag?.flipped(2) },
                { $0.nameSeal = flipped($0.nameSeal) }, { $0.alwaysNameSeal = nil },
            ])
        for item in records.itemRecords.values.map(\.head) {
            try expectAllDiffer(
                item, digest.sum,
                [
                    { $0.id.rawValue += 1 }, { $0.directory.rawValue += 1 }, { $0.version += 1 },
                    { $0.protection = .afterFirstUnlockThisDeviceOnly }, { $0.generation += 1 },
                    { $0.tag = $0.tag.flipped(1) }, { $0.alwaysTag = $0.alwaysTag == nil ? [] : nil },
                    { $0.ephemeral = $0.ephemeral == nil ? [] : $0.ephemeral?.flipped(1) },
                    { $0.mac = $0.mac == nil ? [] : nil }, { $0.metadataSeal = flipped($0.metadataSeal) },
                    { $0.secretSeals[0] = flipped($0.secretSeals[0]) }, { $0.secretSeals = [] },
                ])
        }
    }

    private func flipped(_ seal: NonceAndTag) -> NonceAndTag { NonceAndTag(bytes: seal.bytes.flipped(30)) ?? seal }

    private func expectAllDiffer<Row>(
        _ row: Row, _ sum: (Row) throws(KeychainError) -> RowSum, _ changes: [(inout Row) -> Void]
    ) throws {
        var sums: Set<RowSum> = [try sum(row)]
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
        let vault = try Vault()
        let container = try #require(vault.bench.store.records.directoryRecords[vault.directory]).parent
        func have() throws -> [Bool] {
            let records = vault.bench.store.records.directoryRecords
            return try [vault.directory, container].map { id in
                let record = try #require(records[id])
                #expect((record.alwaysTag == nil) == (record.alwaysName == nil))
                return record.alwaysTag != nil
            }
        }
        #expect(try have() == [false, false])
        try vault.add("plain")
        #expect(try have() == [false, false])
        let first = try vault.add("first", .always)
        var second = try vault.add("second", .alwaysThisDeviceOnly)
        #expect(try have() == [true, true])
        try vault.keychain.change { change throws(KeychainError) in try change.deleteItem(first.id) }
        #expect(try have() == [true, true])
        // Found before the first unlock, by the name under the Always keys.
        let locked = try Bench(copying: vault.bench.store.records)
        let name = CanonicalName(service: .generic(service: .string("mail")))
        let record = try #require(locked.store.records.directoryRecords[vault.directory])
        let key = ContainerKey(itemClass: .genericPassword)
        #expect(try locked.ring.directoryTag(name, in: key, always: true) == record.alwaysTag)
        #expect(try locked.directories.open(record).key == .service(.generic(service: .string("mail"))))
        second.protection = .whenUnlocked
        second = try vault.keychain.change { [second] change throws(KeychainError) in try change.save(second) }
        #expect(try have() == [false, false])
        #expect(try vault.keychain.verifyNow().rows == nil)
    }
}
