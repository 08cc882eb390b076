import Dispatch
import KeychainTesting
import SecretCrypto
import Synchronization
import Testing

@testable import Keychain

/// L5: slots are added, changed and removed, each in one transaction and by the secret of a slot.
@Suite("slot changes")
struct SlotChangeTests {
    private func secret(_ passphrase: String) throws -> UnlockSecret {
        UnlockSecret(passphrase: try SecretBytes(text: passphrase))
    }

    private func keyFile(_ fill: UInt8 = 7) throws -> UnlockSecret {
        try UnlockSecret(keyFile: SecretBytes(copying: [UInt8](repeating: fill, count: 64).rawSpan))
    }

    private func root(_ fixture: KeyRingFixture, _ passphrase: String = "correct") throws -> SlotRootKey {
        try fixture.ring.root(of: secret(passphrase))
    }

    private func kinds(_ fixture: KeyRingFixture) throws -> [Int64: SlotKind] {
        Dictionary(uniqueKeysWithValues: try fixture.ring.slots().map { ($0.id, $0.kind) })
    }

    /// Creates a ring with rows of every class.
    private func filled() throws -> (KeyRingFixture, [ItemRecord]) {
        let fixture = try KeyRingFixture()
        let rows = try ProtectionClass.allCases.map { protection in
            try fixture.addCounted(
                .sample(protection, id: 100 + Int64(protection.rawValue), account: protection.code),
                [protection.rawValue])
        }
        return (fixture, rows)
    }

    private func opens(_ fixture: KeyRingFixture, _ secret: borrowing UnlockSecret) throws -> Bool {
        let copy = try KeyRingFixture(copying: fixture.store.records)
        do throws(KeychainFault) {
            try copy.ring.unlock(with: secret)
            return true
        } catch {
            #expect(error == .authFailed)
            return false
        }
    }

    /// Returns whether the user key that "correct" opens in an older copy opens the current master keys.
    private func knowsUserKey(of fixture: KeyRingFixture, from older: InMemoryRecords) throws -> Bool {
        let then = try #require(older.storeRecord)
        let root = try SlotUnlock.root(of: secret("correct"), store: then)
        let key = try SlotUnlock.userKey(
            root: root.bytes, kind: .passphrase, slots: Array(older.slotRecords.values), store: then)
        var now = try #require(fixture.store.records.storeRecord)
        for generation in [now.userKeyGeneration, then.userKeyGeneration] {
            now.userKeyGeneration = generation
            if (try? MasterKeyMaterial(opening: now, userKey: key).count) != nil { return true }
        }
        return false
    }

    /// Whether the header is true to the rows.
    private func isConsistent(_ fixture: KeyRingFixture) throws -> Bool {
        try KeychainStore(store: fixture.store, keys: fixture.ring) { .sample }.verifyNow().rows == nil
    }

    @Test("L5: an added slot of each kind opens, and so do the others; nothing but its row is written")
    func add() throws {
        let (fixture, _) = try filled()
        let (before, writes) = (fixture.store.records, fixture.store.writeCount)
        let recovery = try UnlockSecret(recoveryKey: RecoveryKey())
        #expect(try fixture.ring.addSlot(secret("second"), authorizedBy: root(fixture)).id == 2)
        #expect(try fixture.ring.addSlot(recovery, authorizedBy: root(fixture, "second")).id == 3)
        #expect(try fixture.ring.addSlot(keyFile(), authorizedBy: fixture.ring.root(of: recovery)).id == 4)
        #expect(try kinds(fixture) == [1: .passphrase, 2: .passphrase, 3: .recoveryKey, 4: .keyFile])
        for passphrase in ["correct", "second"] { #expect(try opens(fixture, secret(passphrase))) }
        #expect(try opens(fixture, recovery))
        #expect(try opens(fixture, keyFile()))
        #expect(try !opens(fixture, keyFile(8)))
        let after = fixture.store.records
        #expect(after.itemRecords == before.itemRecords && after.classKeyRecords == before.classKeyRecords)
        #expect(
            after.storeRecord?.cost == before.storeRecord?.cost && after.storeRecord?.salt == before.storeRecord?.salt)
        #expect(fixture.store.writeCount == writes + 3)
        #expect(try isConsistent(fixture))
    }

    @Test("L5: without the secret of a slot nothing changes, unlocked as it is")
    func authority() throws {
        let (fixture, _) = try filled()
        let before = fixture.store.records
        #expect(throws: KeychainFault.authFailed) {
            try fixture.ring.addSlot(secret("evil"), authorizedBy: root(fixture, "wrong"))
        }
        #expect(throws: KeychainFault.authFailed) {
            try fixture.ring.changeSlot(1, to: secret("evil"), authorizedBy: root(fixture, "wrong"))
        }
        #expect(throws: KeychainFault.authFailed) {
            try fixture.ring.removeSlot(1, authorizedBy: fixture.ring.root(of: keyFile()))
        }
        #expect(throws: KeychainFault.authFailed) { try fixture.ring.verify(root(fixture, "wrong")) }
        try fixture.ring.verify(root(fixture))
        #expect(fixture.store.records.slotRecords == before.slotRecords)
        #expect(fixture.store.records.storeRecord == before.storeRecord)
    }

    @Test(
        "L5: a changed slot opens only with its new secret; items are not modified, new ones are sealed under new keys")
    func change() throws {
        let (fixture, rows) = try filled()
        _ = try fixture.ring.addSlot(secret("second"), authorizedBy: root(fixture))
        let older = fixture.store.records
        #expect(try fixture.ring.changeSlot(1, to: secret("new"), authorizedBy: root(fixture, "second")).id == 1)
        #expect(try opens(fixture, secret("new")) && opens(fixture, secret("second")))
        #expect(try !opens(fixture, secret("correct")))
        #expect(try opens(KeyRingFixture(copying: older), secret("correct")))
        #expect(fixture.store.records.itemRecords == older.itemRecords)
        for row in rows { #expect(try fixture.contents(row) == [row.protection.rawValue]) }
        #expect(try fixture.addCounted(.sample(id: 200, account: "later"), [1]).generation == 2)
        #expect(try isConsistent(fixture))
        #expect(try !knowsUserKey(of: fixture, from: older))
        // And the only slot there is.
        _ = try fixture.ring.removeSlot(2, authorizedBy: root(fixture, "new"))
        _ = try fixture.ring.changeSlot(1, to: secret("last"), authorizedBy: root(fixture, "new"))
        #expect(try kinds(fixture) == [1: .passphrase])
        #expect(try opens(fixture, secret("last")))
    }

    @Test("L5: a removed slot opens the new store no more, an older copy it does; the last one stays")
    func remove() throws {
        let (fixture, rows) = try filled()
        _ = try fixture.ring.addSlot(secret("second"), authorizedBy: root(fixture))
        let older = fixture.store.records
        #expect(throws: KeychainFault.itemNotFound) { try fixture.ring.removeSlot(9, authorizedBy: root(fixture)) }
        #expect(try fixture.ring.removeSlot(1, authorizedBy: root(fixture)).id == 1)
        #expect(try opens(fixture, secret("second")))
        #expect(try !opens(fixture, secret("correct")))
        #expect(try opens(KeyRingFixture(copying: older), secret("correct")))
        #expect(try !knowsUserKey(of: fixture, from: older))
        for row in rows { #expect(try fixture.contents(row) == [row.protection.rawValue]) }
        #expect(throws: KeychainFault.slotRefused(.lastSlot)) {
            try fixture.ring.removeSlot(2, authorizedBy: root(fixture, "second"))
        }
        #expect(try isConsistent(fixture))
    }

    @Test("L5: a slot that this version cannot open, or a planted one, does not allow the removal of another")
    func lastUsable() throws {
        let fixture = try KeyRingFixture()
        var records = fixture.store.records
        let store = try #require(records.storeRecord)
        let key = try fixture.ring.userKey(passphrase: SecretBytes(text: "correct"))
        let other = try SlotSecret(root: SecretBytes(randomCount: 32), store: store.identifier, slot: 5)
        let place = SlotAddress(store: store.identifier, id: 5, kind: .fido2, userKeyGeneration: 1)
        records.slotRecords[5] = try SlotRecord(wrapping: key, for: other.recipient(), at: place)
        let planted = SlotAddress(store: store.identifier, id: 6, kind: .keyFile, userKeyGeneration: 1)
        records.slotRecords[6] = try SlotRecord(
            wrapping: SecretBytes(randomCount: 32), for: other.recipient(), at: planted)
        fixture.store.records = records.withCommittedKeys()
        #expect(throws: KeychainFault.slotRefused(.lastSlot)) {
            try fixture.ring.removeSlot(1, authorizedBy: root(fixture))
        }
    }

    @Test(
        "S3: a planted slot authorizes nothing, gets no wrapped key from any change, and is reported when it is removed"
    )
    func planted() throws {
        let fixture = try KeyRingFixture()
        var records = fixture.store.records
        let store = try #require(records.storeRecord)
        let evil = try fixture.ring.root(of: keyFile(66))
        let secret = try SlotSecret(root: evil.bytes, store: store.identifier, slot: 2)
        let place = SlotAddress(store: store.identifier, id: 2, kind: .keyFile, userKeyGeneration: 1)
        records.slotRecords[2] = try SlotRecord(
            wrapping: SecretBytes(randomCount: 32), for: secret.recipient(), at: place)
        fixture.store.records = records.withCommittedKeys()
        #expect(throws: KeychainFault.decode) { try fixture.ring.verify(evil) }
        #expect(throws: KeychainFault.decode) { try fixture.ring.addSlot(keyFile(67), authorizedBy: evil) }
        #expect(throws: KeychainFault.decode) { try fixture.ring.removeSlot(1, authorizedBy: evil) }
        let change = try fixture.ring.changeSlot(1, to: self.secret("new"), authorizedBy: root(fixture))
        #expect(change.lostSlots == [2] && fixture.store.records.slotRecords[2] == nil)
        #expect(try !opens(fixture, keyFile(66)))
    }

    @Test("L5: the cost is raised while there is one passphrase slot, with another salt, and never lowered")
    func cost() throws {
        let fixture = try KeyRingFixture()
        let old = try #require(fixture.store.records.storeRecord)
        let higher = Argon2id.Cost(passes: 2, memory: 8192)
        _ = try fixture.ring.changeSlot(1, to: secret("correct"), cost: higher, authorizedBy: root(fixture))
        let raised = try #require(fixture.store.records.storeRecord)
        #expect(raised.cost == higher && raised.salt != old.salt)
        #expect(try opens(fixture, secret("correct")))
        #expect(try fixture.ring.slots() == [SlotSummary(id: 1, kind: .passphrase, cost: higher)])
        // Lower in one, higher in the other.
        let mixed = Argon2id.Cost(passes: 1, memory: 16384)
        _ = try fixture.ring.changeSlot(1, to: secret("correct"), cost: mixed, authorizedBy: root(fixture))
        let both = try #require(fixture.store.records.storeRecord)
        #expect(both.cost == Argon2id.Cost(passes: 2, memory: 16384))
        _ = try fixture.ring.changeSlot(1, to: secret("x"), cost: .cheap, authorizedBy: root(fixture))
        #expect(
            fixture.store.records.storeRecord?.cost == both.cost && fixture.store.records.storeRecord?.salt == both.salt
        )
        #expect(try opens(fixture, secret("x")))
        // A second passphrase shares it; a key file does not mind.
        _ = try fixture.ring.addSlot(keyFile(), authorizedBy: root(fixture, "x"))
        let limit = Argon2id.Cost(passes: 3, memory: 16384)
        _ = try fixture.ring.changeSlot(1, to: secret("x"), cost: limit, authorizedBy: root(fixture, "x"))
        #expect(try opens(fixture, keyFile()))
        _ = try fixture.ring.addSlot(secret("second"), authorizedBy: root(fixture, "x"))
        let more = Argon2id.Cost(passes: 4, memory: 16384)
        #expect(throws: KeychainFault.slotRefused(.sharedCost)) {
            try fixture.ring.changeSlot(1, to: secret("x"), cost: more, authorizedBy: root(fixture, "x"))
        }
        #expect(throws: KeychainFault.param) {
            try fixture.ring.changeSlot(2, to: keyFile(), cost: more, authorizedBy: root(fixture, "x"))
        }
        #expect(throws: KeychainFault.unacceptableCost) {
            let beyond = Argon2id.Cost(passes: 11, memory: 16384)
            _ = try fixture.ring.changeSlot(1, to: secret("x"), cost: beyond, authorizedBy: root(fixture, "x"))
        }
        #expect(try isConsistent(fixture))
    }

    @Test("L5: each slot has a separate secret: the secret of another slot is refused, without a change")
    func sameSecret() throws {
        let fixture = try KeyRingFixture()
        _ = try fixture.ring.addSlot(secret("second"), authorizedBy: root(fixture))
        _ = try fixture.ring.addSlot(keyFile(), authorizedBy: root(fixture))
        let before = fixture.store.records.slotRecords
        #expect(throws: KeychainFault.slotRefused(.sameSecret)) {
            try fixture.ring.addSlot(secret("second"), authorizedBy: root(fixture))
        }
        #expect(throws: KeychainFault.slotRefused(.sameSecret)) {
            try fixture.ring.addSlot(keyFile(), authorizedBy: root(fixture))
        }
        // `slot change 2 --kdf` with the passphrase of slot 1, at a cost that occurs in the store.
        #expect(throws: KeychainFault.slotRefused(.sameSecret)) {
            try fixture.ring.changeSlot(2, to: secret("correct"), cost: .cheap, authorizedBy: root(fixture))
        }
        #expect(fixture.store.records.slotRecords == before)
        _ = try fixture.ring.changeSlot(2, to: secret("second"), cost: .cheap, authorizedBy: root(fixture, "second"))
        #expect(try opens(fixture, secret("second")))
    }

    @Test("L5: a forged slot with the highest number does not make a new slot replace another")
    func forgedNumber() throws {
        let fixture = try KeyRingFixture()
        var records = fixture.store.records
        var forged = try #require(records.slotRecords[1])
        forged.id = ClassKeyRecord.numbers.upperBound - 1
        records.slotRecords[forged.id] = forged
        fixture.store.records = records.withCommittedKeys()
        _ = try fixture.ring.addSlot(secret("second"), authorizedBy: root(fixture))
        _ = try fixture.ring.addSlot(keyFile(), authorizedBy: root(fixture))
        for passphrase in ["correct", "second"] { #expect(try opens(fixture, secret(passphrase))) }
        #expect(try opens(fixture, keyFile()))
    }

    @Test("L5: an authority derived at another cost, or whose slot was removed, is no longer valid")
    func staleAuthority() throws {
        let fixture = try KeyRingFixture()
        let stale = try root(fixture)
        let higher = Argon2id.Cost(passes: 2, memory: 8192)
        _ = try fixture.ring.changeSlot(1, to: secret("correct"), cost: higher, authorizedBy: stale)
        #expect(throws: KeychainFault.inUse(processID: 0)) { try fixture.ring.addSlot(keyFile(), authorizedBy: stale) }
        let fresh = try root(fixture)
        _ = try fixture.ring.changeSlot(1, to: secret("new"), authorizedBy: fresh)
        #expect(throws: KeychainFault.authFailed) { try fixture.ring.addSlot(keyFile(), authorizedBy: fresh) }
    }

    @Test("L5, F4: a change that fails in the store leaves everything as it was", arguments: 0..<4)
    func failures(operation: Int) throws {
        let (fixture, rows) = try filled()
        _ = try fixture.ring.addSlot(secret("second"), authorizedBy: root(fixture))
        let before = fixture.store.records
        fixture.store.failNextWrite(with: .diskFull)
        #expect(throws: KeychainFault.diskFull) {
            switch operation {
            case 0: _ = try fixture.ring.addSlot(keyFile(), authorizedBy: root(fixture))
            case 1: _ = try fixture.ring.changeSlot(1, to: secret("new"), authorizedBy: root(fixture))
            case 2: _ = try fixture.ring.removeSlot(1, authorizedBy: root(fixture))
            default:
                _ = try fixture.ring.removeSlot(2, authorizedBy: root(fixture))
            }
        }
        let after = fixture.store.records
        #expect(after.slotRecords == before.slotRecords && after.storeRecord == before.storeRecord)
        #expect(after.classKeyRecords == before.classKeyRecords && after.userKeyRecords == before.userKeyRecords)
        for passphrase in ["correct", "second"] { #expect(try opens(fixture, secret(passphrase))) }
        for row in rows { #expect(try fixture.contents(row) == [row.protection.rawValue]) }
        #expect(try fixture.addCounted(.sample(id: 200, account: "later"), [1]).generation == 1)
        #expect(try isConsistent(fixture))
    }

    @Test(
        "L2, L5: a locked keychain stays locked for any change of its slots; before the first unlock none is possible")
    func locked() throws {
        let (fixture, rows) = try filled()
        fixture.ring.lock()
        _ = try fixture.ring.addSlot(secret("second"), authorizedBy: root(fixture))
        _ = try fixture.ring.changeSlot(1, to: secret("new"), authorizedBy: root(fixture))
        _ = try fixture.ring.removeSlot(1, authorizedBy: root(fixture, "second"))
        #expect(fixture.ring.state == .locked)
        for protection in ProtectionClass.allCases {
            #expect(fixture.ring.isAvailable(protection) == (protection.availability != .unlocked))
        }
        try fixture.unlock("second")
        for row in rows { #expect(try fixture.contents(row) == [row.protection.rawValue]) }
        let cold = try KeyRingFixture(copying: fixture.store.records)
        #expect(throws: KeychainFault.interactionNotAllowed) {
            try cold.ring.addSlot(keyFile(), authorizedBy: root(cold, "second"))
        }
        let readOnly = try KeyRingFixture(copying: fixture.store.records, isReadOnly: true)
        try readOnly.unlock("second")
        #expect(throws: KeychainFault.readOnly) {
            try readOnly.ring.addSlot(keyFile(), authorizedBy: root(readOnly, "second"))
        }
    }

    @Test("L5: when two clients remove each other's slot concurrently, one of them fails")
    func race() throws {
        for _ in 0..<10 {
            let fixture = try KeyRingFixture()
            _ = try fixture.ring.addSlot(secret("second"), authorizedBy: root(fixture))
            let done = Mutex<[KeychainFault?]>([])
            DispatchQueue.concurrentPerform(iterations: 2) { index in
                let own = index == 0 ? "correct" : "second"
                let outcome: KeychainFault?
                do throws(KeychainFault) {
                    let passphrase = try KeychainFault.translating { () throws(CryptoError) in
                        try SecretBytes(text: own)
                    }
                    let authority = try fixture.ring.root(of: UnlockSecret(passphrase: passphrase))
                    _ = try fixture.ring.removeSlot(index == 0 ? 2 : 1, authorizedBy: authority)
                    outcome = nil
                } catch { outcome = error }
                done.withLock { $0.append(outcome) }
            }
            #expect(Set(done.withLock { $0 }) == [nil, .authFailed])
            #expect(fixture.store.records.slotRecords.count == 1)
        }
    }

    @Test("S4: where a row of a key cannot be read no slot changes: it could be one")
    func damaged() throws {
        let fixture = try KeyRingFixture()
        var records = fixture.store.records
        records.damagedKeyCount = 1
        fixture.store.records = records
        #expect(throws: KeychainFault.decode) { try fixture.ring.addSlot(keyFile(), authorizedBy: root(fixture)) }
        #expect(throws: KeychainFault.decode) {
            try fixture.ring.changeSlot(1, to: secret("new"), authorizedBy: root(fixture))
        }
    }

    @Test("L5: numbers that no program would reach are not slot numbers, and do not block others")
    func hugeNumbers() throws {
        let fixture = try KeyRingFixture()
        var records = fixture.store.records
        for id in [Int64.max, .min, 0] {
            records.slotRecords[id] = records.slotRecords[1]
            records.slotRecords[id]?.id = id
        }
        fixture.store.records = records.withCommittedKeys()
        #expect(try fixture.ring.addSlot(keyFile(), authorizedBy: root(fixture)).id == 2)
        #expect(try opens(fixture, keyFile()))
    }
}

extension SlotRecord {
    /// A copy with another number.
    init(copying slot: SlotRecord, id: Int64) {
        self = slot
        self.id = id
    }
}
