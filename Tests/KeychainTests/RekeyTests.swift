import Foundation
import KeychainTesting
import SecretCrypto
import Synchronization
import Testing

@testable import Keychain

/// A keychain in memory; unlocked.
struct RekeyFixture {
    let store: InMemoryRecordStore
    let keychain: KeychainStore

    init(_ records: InMemoryRecords, device: UInt8 = 1, isReadOnly: Bool = false) throws {
        store = InMemoryRecordStore(records.withCommittedKeys(), isReadOnly: isReadOnly)
        let ring = try KeyRing(store: store, device: KeyRingFixture.device(device))
        keychain = KeychainStore(store: store, keys: ring) { .sample }
        try unlock()
    }

    /// Opens the keychain as after a crash.
    func reopened() throws -> RekeyFixture { try RekeyFixture(store.records) }

    func unlock() throws { try keychain.keys.unlock(passphrase: SecretBytes(text: "correct")) }

    @discardableResult
    func start(_ passphrase: String = "correct", acceptingDifferences: Bool = false) throws -> RekeyStart {
        try keychain.startRekey(acceptingDifferences: acceptingDifferences) { () throws(KeychainFault) in
            let secret = try KeychainFault.translating { () throws(CryptoError) in try SecretBytes(text: passphrase) }
            return try keychain.keys.userKey(passphrase: secret)
        }
    }
}

extension RekeyFixture {
    /// Adds an item with a secret, with a number that the fixture of the records does not use.
    func add(_ item: Item) throws -> Item {
        var item = item
        item.id = RowID(rawValue: 5000)
        item.secretCount = 3
        return try keychain.change { [item] (transaction) throws(KeychainFault) in
            try transaction.save(item, secret: Contents(bytes: [1, 2, 3]))
        }
    }

    /// Expects the items with their secrets.
    func expectItems(_ items: [Item], sourceLocation: SourceLocation = #_sourceLocation) throws {
        for item in items {
            let found = try #require(try keychain.itemWithSecret(id: item.id), sourceLocation: sourceLocation)
            #expect(found.item == item, sourceLocation: sourceLocation)
            let contents: [UInt8]? = item.secretCount == nil ? nil : [1, 2, 3]
            #expect(try found.secret?.all() == contents, sourceLocation: sourceLocation)
        }
    }

    /// The number of sets of master keys in the store.
    var sets: Int { (store.records.storeRecord?.masterKeys.ciphertext.count ?? 0) / MasterKeys.byteCount }

    /// The device in the header that runs a rekey.
    func rekeyDevice() throws -> Int64 {
        try keychain.keys.header(of: #require(store.records.storeRecord)).rekeyDevice
    }

    /// Whether nothing is left of the keys of earlier generations, which start with 1.
    ///
    /// - Parameters:
    ///   - generation: Of the user key, and of the class keys that each rotation renews.
    ///   - device: Of this device's class keys.
    ///   - masters: Of the master keys.
    func expectRekeyed(
        _ generation: Int64 = 2, device: Int64 = 2, masters: Int64 = 2,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let records = store.records
        func isNew(_ purpose: KeyPurpose, _ found: Int64) -> Bool {
            purpose == .alwaysLookup || found == (purpose.isThisDeviceOnly ? device : generation)
        }
        #expect(
            records.itemRecords.values.allSatisfy { isNew(.protection($0.protection), $0.generation) },
            sourceLocation: sourceLocation)
        #expect(
            records.classKeyRecords.allSatisfy { isNew($0.purpose, $0.generation) }, sourceLocation: sourceLocation)
        #expect(
            records.directoryRecords.values.allSatisfy { $0.masterKeyGeneration == masters },
            sourceLocation: sourceLocation)
        #expect(records.storeRecord?.masterKeyGeneration == masters, sourceLocation: sourceLocation)
        #expect(sets == 1, sourceLocation: sourceLocation)
        #expect(try rekeyDevice() == 0, sourceLocation: sourceLocation)
        // The device file names a generation of the user key, which is therefore kept.
        #expect(records.userKeyRecords.keys.sorted() == Array(1..<generation), sourceLocation: sourceLocation)
        #expect(try keychain.verifyNow().rows == nil, sourceLocation: sourceLocation)
        #expect(keychain.rekeyProgress.phase == .finished, sourceLocation: sourceLocation)
    }
}

extension DigestFixture {
    /// Adds items of every class, more than one transaction reseals, one of them without a secret.
    fileprivate func filled() throws -> [Item] {
        var items: [Item] = []
        for number in 0..<KeychainStore.rekeyPageSize + 4 {
            let protection = ProtectionClass.allCases[number % ProtectionClass.allCases.count]
            items.append(try add("item \(number)", protection))
        }
        let empty = try item("none")
        items.append(try keychain.change { (transaction) throws(KeychainFault) in try transaction.save(empty) })
        return items
    }
}

@Suite("rekey")
struct RekeyTests {
    @Test("L5: every item is sealed under new keys with its contents unchanged, and the old keys are deleted")
    func everything() throws {
        let fixture = try DigestFixture()
        let items = try fixture.filled()
        let safe = try RekeyFixture(fixture.keyRingFixture.store.records)
        let old = safe.store.records
        let oldKey = try safe.keychain.keys.userKey(passphrase: SecretBytes(text: "correct"))
        try safe.start()
        try safe.keychain.rekey()
        try safe.expectRekeyed()
        try safe.expectItems(items)
        #expect(safe.keychain.rekeyProgress.done == items.count && safe.keychain.rekeyProgress.total == items.count)
        let again = try safe.reopened()
        try again.expectItems(items)
        // The keys of an older copy, which another user may have.
        let store = try #require(old.storeRecord).identifier
        let keys = try WrappingKeys(user: oldKey, generation: 1, device: KeyRingFixture.device(), store: store)
        for record in safe.store.records.classKeyRecords where record.wrapping != .deviceKey {
            #expect(throws: CryptoError.authenticationFailed) { _ = try keys.unwrap(record).count }
        }
        let former = try KeyRingFixture(copying: old)
        try former.unlock()
        for row in safe.store.records.itemRecords.values {
            #expect(throws: KeychainFault.decode) { try former.items.open(row) }
        }
    }

    @Test("L5: interrupted between any two transactions, it continues after the next unlock")
    func interrupted() throws {
        let fixture = try DigestFixture()
        let items = try fixture.filled()
        // After the new keys; after one page; after two; after the items, without the directories.
        for pages in 0...3 {
            let safe = try RekeyFixture(fixture.keyRingFixture.store.records)
            try safe.start()
            let old = try safe.keychain.keys.oldKeys()
            var after = RowID.none
            for _ in 0..<min(pages, 2) {
                after = try #require(try safe.keychain.rekeyItems(of: old, after: after)).last
            }
            if pages == 3 {
                #expect(try safe.keychain.keys.removeKeys(of: old, damaged: OldRowCounts()).isEnd == false)
            }
            #expect(try safe.sets == 2 && safe.rekeyDevice() == 1)
            let next = try safe.reopened()
            #expect(next.keychain.rekeyProgress.phase == .waiting(.interactionNotAllowed))
            try next.expectItems(items)
            try next.keychain.rekey()
            try next.expectRekeyed()
            try next.expectItems(items)
        }
    }

    @Test("L5, F9: without space it stops, and continues from there")
    func diskFull() throws {
        let fixture = try DigestFixture()
        let items = try fixture.filled()
        let safe = try RekeyFixture(fixture.keyRingFixture.store.records)
        try safe.start()
        safe.store.failNextWrite(with: .diskFull)
        #expect(throws: KeychainFault.diskFull) { try safe.keychain.rekey() }
        try safe.expectItems(items)
        #expect(throws: KeychainFault.diskFull) { try safe.keychain.rekey { _ in false } }
        #expect(safe.sets == 2)
        try safe.keychain.rekey()
        try safe.expectRekeyed()
        try safe.expectItems(items)
    }

    @Test("L2, L5: a lock stops it; after the unlock the worker completes it")
    func lockedMeanwhile() throws {
        let fixture = try DigestFixture()
        let items = try fixture.filled()
        let safe = try RekeyFixture(fixture.keyRingFixture.store.records)
        let keychain = safe.keychain
        try safe.start()
        safe.store.afterNextWrite { keychain.lock() }
        let reports = Mutex<[RekeyProgress.Phase]>([])
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            keychain.rekeyInBackground { progress in
                reports.withLock { $0.append(progress.phase) }
                if progress.phase == .finished { keychain.keys.rekeying.close() }
            }
            done.signal()
        }
        try safe.unlockWhenStopped()
        #expect(done.wait(timeout: .now() + 60) == .success)
        #expect(reports.withLock { $0 } == [.waiting(.interactionNotAllowed), .finished])
        try safe.expectRekeyed()
        try safe.expectItems(items)
    }

    @Test("S4, L5: rows that do not open keep the keys of their class, and are reported")
    func damaged() throws {
        let fixture = try DigestFixture()
        let items = try fixture.filled()
        let safe = try RekeyFixture(fixture.keyRingFixture.store.records)
        let row = try #require(items.first { $0.protection == .whenUnlocked }).id
        var records = safe.store.records
        records.secrets[row]?[0] ^= 1
        safe.store.records = records
        try safe.start()
        try safe.keychain.rekey()
        #expect(safe.keychain.rekeyProgress.left == 1 && safe.keychain.rekeyProgress.done == items.count - 1)
        let old = safe.store.records.classKeyRecords.filter { $0.generation == 1 && $0.purpose != .alwaysLookup }
        #expect(old.map(\.purpose) == [.protection(.whenUnlocked)])
        // Its metadata is readable as before (S4).
        #expect(try safe.keychain.item(id: row) != nil)
        try safe.expectItems(items.filter { $0.id != row })
        // After its deletion the next rekey leaves no old key.
        try safe.keychain.change { (transaction) throws(KeychainFault) in try transaction.deleteItem(row) }
        try safe.start()
        try safe.keychain.rekey()
        try safe.expectRekeyed(3, device: 3, masters: 3)
    }

    @Test("L6, S3: another device's items and keys are not modified, and open there")
    func otherDevice() throws {
        let fixture = try DigestFixture()
        let items = try fixture.filled()
        let second = try RekeyFixture(fixture.keyRingFixture.store.records, device: 2)
        let own = try second.add(fixture.item("own", .whenUnlockedThisDeviceOnly))
        let first = try RekeyFixture(second.store.records)
        try first.start()
        try first.keychain.rekey()
        #expect(first.keychain.rekeyProgress.left == 0)
        try first.expectItems(items)
        let there = try RekeyFixture(first.store.records, device: 2)
        try there.expectItems([own] + items.filter { !$0.protection.isThisDeviceOnly })
    }

    @Test("F3, L2: an open descriptor stays readable until a lock; then no part of the old keys remains")
    func openDescriptor() throws {
        let fixture = try DigestFixture()
        let items = try fixture.filled()
        let safe = try RekeyFixture(fixture.keyRingFixture.store.records)
        let item = try #require(items.first { $0.protection == .whenUnlocked })
        let always = try #require(items.first { $0.protection == .always })
        let open = try #require(try safe.keychain.itemWithSecret(id: item.id)?.secret)
        let stays = try #require(try safe.keychain.itemWithSecret(id: always.id)?.secret)
        try safe.start()
        try safe.keychain.rekey()
        #expect(try open.all() == [1, 2, 3])
        safe.keychain.lock()
        #expect(throws: KeychainFault.interactionNotAllowed) { try open.all() }
        #expect(try stays.all() == [1, 2, 3])
        safe.keychain.close()
        #expect(throws: KeychainFault.interactionNotAllowed) { try stays.all() }
    }

    @Test("H2: keys without readers are wiped with the rekey, not with the lock")
    func oldKeysInMemory() throws {
        let fixture = try DigestFixture()
        _ = try fixture.filled()
        let safe = try RekeyFixture(fixture.keyRingFixture.store.records)
        weak let old = try safe.keychain.keys.currentKeys(for: .whenUnlocked).secret
        #expect(old != nil)
        try safe.start()
        try safe.keychain.rekey()
        #expect(old == nil)
    }

    @Test("L5: a second pass finds rows that were committed under the old keys behind the first")
    func lateCommit() throws {
        let fixture = try DigestFixture()
        let items = try fixture.filled()
        let safe = try RekeyFixture(fixture.keyRingFixture.store.records)
        let late = try #require(safe.store.records.itemRecords[items[0].id])
        let secret = safe.store.records.secrets[late.id]
        try safe.start()
        let store = safe.store
        store.afterNextWrite {
            var records = store.records
            try? records.put(late, secret: secret)
            store.records = records
        }
        try safe.keychain.rekey()
        #expect(store.records.itemRecords[late.id]?.generation == 2)
        #expect(store.records.classKeyRecords.allSatisfy { $0.purpose == .alwaysLookup || $0.generation == 2 })
        try safe.expectItems(items)
    }

    @Test("L5: keys replaced by a concurrent slot change count as old ones, too")
    func slotChangedMeanwhile() throws {
        let fixture = try DigestFixture()
        let items = try fixture.filled()
        let safe = try RekeyFixture(fixture.keyRingFixture.store.records)
        let ring = safe.keychain.keys
        let root = try ring.root(of: UnlockSecret(passphrase: SecretBytes(text: "correct")))
        _ = try ring.addSlot(UnlockSecret(passphrase: SecretBytes(text: "second")), authorizedBy: root)
        try safe.start()
        safe.store.afterNextWrite { try? Self.removeSecondSlot(ring) }
        try safe.keychain.rekey()
        try safe.expectRekeyed(3, masters: 3)
        try safe.expectItems(items)
    }

    private static func removeSecondSlot(_ ring: KeyRing) throws {
        _ = try ring.removeSlot(
            2, authorizedBy: ring.root(of: UnlockSecret(passphrase: SecretBytes(text: "correct"))))
    }

    @Test("L5: slots that it cannot keep are reported")
    func lostSlots() throws {
        let fixture = try DigestFixture()
        var records = fixture.keyRingFixture.store.records
        var forged = try #require(records.slotRecords[1])
        forged.id = 7
        records.slotRecords[7] = forged
        let safe = try RekeyFixture(records)
        #expect(try safe.start() == .started(lostSlots: [7]))
        #expect(safe.store.records.slotRecords.keys.sorted() == [1])
    }

    @Test(
        "L2, L5: with the last passphrase slot an open descriptor of WhenPasscodeSet becomes unusable, under any keys")
    func passcodeDescriptor() throws {
        let fixture = try DigestFixture()
        let items = try fixture.filled()
        let safe = try RekeyFixture(fixture.keyRingFixture.store.records)
        let ring = safe.keychain.keys
        let root = try ring.root(of: UnlockSecret(passphrase: SecretBytes(text: "correct")))
        let file = try UnlockSecret(keyFile: SecretBytes(copying: [UInt8](repeating: 7, count: 64).rawSpan))
        _ = try ring.addSlot(file, authorizedBy: root)
        let item = try #require(items.first { $0.protection == .whenPasscodeSetThisDeviceOnly })
        let open = try #require(try safe.keychain.itemWithSecret(id: item.id)?.secret)
        try safe.start()
        try safe.keychain.rekey()
        #expect(try open.all() == [1, 2, 3])
        _ = try ring.removeSlot(1, authorizedBy: ring.root(of: file), deletesPasscodeItems: true)
        #expect(throws: KeychainFault.interactionNotAllowed) { try open.all() }
    }

    @Test("L5: an item added while locked is sealed under the new keys as well")
    func addedWhileLocked() throws {
        let fixture = try DigestFixture()
        fixture.keychain.lock()
        let item = try fixture.add("later", .whenUnlockedUnlessOpen)
        let safe = try RekeyFixture(fixture.keyRingFixture.store.records)
        try safe.start()
        try safe.keychain.rekey()
        let record = try #require(safe.store.records.itemRecords[item.id])
        #expect(record.ephemeral == nil && record.generation == 2)
        try safe.expectRekeyed()
    }

    @Test("L5: wrong passphrase, locked, read-only, twice: nothing is started")
    func refusals() throws {
        let fixture = try DigestFixture()
        let safe = try RekeyFixture(fixture.keyRingFixture.store.records)
        #expect(throws: KeychainFault.authFailed) { try safe.start("wrong") }
        #expect(safe.sets == 1 && safe.keychain.rekeyProgress.phase == .idle)
        safe.store.failNextWrite(with: .diskFull)
        #expect(throws: KeychainFault.diskFull) { try safe.start() }
        #expect(safe.sets == 1 && safe.store.records.storeRecord?.userKeyGeneration == 1)
        safe.keychain.lock()
        #expect(throws: KeychainFault.interactionNotAllowed) { try safe.start() }
        try safe.unlock()
        try safe.start()
        #expect(throws: KeychainFault.inUse(processID: 0)) { try safe.start() }
        let readOnly = try RekeyFixture(fixture.keyRingFixture.store.records, isReadOnly: true)
        #expect(throws: KeychainFault.readOnly) { try readOnly.start() }
    }
}

extension RekeyFixture {
    /// After the lock has stopped the worker.
    fileprivate func unlockWhenStopped() throws {
        for _ in 0..<10_000 where keychain.rekeyProgress.phase != .waiting(.interactionNotAllowed) { usleep(1000) }
        try unlock()
    }
}
