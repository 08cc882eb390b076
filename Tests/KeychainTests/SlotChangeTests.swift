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

    private func root(_ bench: Bench, _ passphrase: String = "correct") throws -> SlotRoot {
        try bench.ring.root(of: secret(passphrase))
    }

    private func kinds(_ bench: Bench) throws -> [Int64: SlotKind] {
        Dictionary(uniqueKeysWithValues: try bench.ring.slots().map { ($0.id, $0.kind) })
    }

    /// With the rows of every class.
    private func filled() throws -> (Bench, [ItemRecord]) {
        let bench = try Bench()
        let rows = try Protection.allCases.map { protection in
            try bench.addCounted(
                .sample(protection, id: 100 + Int64(protection.rawValue), account: protection.code),
                [protection.rawValue])
        }
        return (bench, rows)
    }

    private func opens(_ bench: Bench, _ secret: borrowing UnlockSecret) throws -> Bool {
        let copy = try Bench(copying: bench.store.records)
        do throws(KeychainError) {
            try copy.ring.unlock(with: secret)
            return true
        } catch {
            #expect(error == .authFailed)
            return false
        }
    }

    /// Whether the user key to which "correct" leads in an older copy opens the master keys of what there is now.
    private func knowsUserKey(of bench: Bench, from older: InMemoryRecords) throws -> Bool {
        let then = try #require(older.storeRecord)
        let root = try SlotOpening.root(of: secret("correct"), store: then)
        let key = try SlotOpening.userKey(
            root: root.bytes, kind: .passphrase, slots: Array(older.slotRecords.values), store: then)
        var now = try #require(bench.store.records.storeRecord)
        for generation in [now.userKeyGeneration, then.userKeyGeneration] {
            now.userKeyGeneration = generation
            if (try? MasterKeys.material(now, userKey: key).count) != nil { return true }
        }
        return false
    }

    /// Whether the header is true to the rows.
    private func isSound(_ bench: Bench) throws -> Bool {
        try Keychain(store: bench.store, keys: bench.ring) { .sample }.verifyNow().rows == nil
    }

    @Test("L5: an added slot of each kind opens, and so do the others; nothing but its row is written")
    func add() throws {
        let (bench, _) = try filled()
        let (before, writes) = (bench.store.records, bench.store.writeCount)
        let recovery = try UnlockSecret(recoveryKey: RecoveryKey())
        #expect(try bench.ring.addSlot(secret("second"), authorizedBy: root(bench)).id == 2)
        #expect(try bench.ring.addSlot(recovery, authorizedBy: root(bench, "second")).id == 3)
        #expect(try bench.ring.addSlot(keyFile(), authorizedBy: bench.ring.root(of: recovery)).id == 4)
        #expect(try kinds(bench) == [1: .passphrase, 2: .passphrase, 3: .recoveryKey, 4: .keyFile])
        for passphrase in ["correct", "second"] { #expect(try opens(bench, secret(passphrase))) }
        #expect(try opens(bench, recovery))
        #expect(try opens(bench, keyFile()))
        #expect(try !opens(bench, keyFile(8)))
        let after = bench.store.records
        #expect(after.itemRecords == before.itemRecords && after.classKeyRecords == before.classKeyRecords)
        #expect(
            after.storeRecord?.cost == before.storeRecord?.cost && after.storeRecord?.salt == before.storeRecord?.salt)
        #expect(bench.store.writeCount == writes + 3)
        #expect(try isSound(bench))
    }

    @Test("L5: without the secret of a slot nothing changes, unlocked as it is")
    func authority() throws {
        let (bench, _) = try filled()
        let before = bench.store.records
        #expect(throws: KeychainError.authFailed) {
            try bench.ring.addSlot(secret("evil"), authorizedBy: root(bench, "wrong"))
        }
        #expect(throws: KeychainError.authFailed) {
            try bench.ring.changeSlot(1, to: secret("evil"), authorizedBy: root(bench, "wrong"))
        }
        #expect(throws: KeychainError.authFailed) {
            try bench.ring.removeSlot(1, authorizedBy: bench.ring.root(of: keyFile()))
        }
        #expect(throws: KeychainError.authFailed) { try bench.ring.verify(root(bench, "wrong")) }
        try bench.ring.verify(root(bench))
        #expect(bench.store.records.slotRecords == before.slotRecords)
        #expect(bench.store.records.storeRecord == before.storeRecord)
    }

    @Test("L5: a changed slot opens with its new secret alone; items stay as they are, new ones lie under new keys")
    func change() throws {
        let (bench, rows) = try filled()
        _ = try bench.ring.addSlot(secret("second"), authorizedBy: root(bench))
        let older = bench.store.records
        #expect(try bench.ring.changeSlot(1, to: secret("new"), authorizedBy: root(bench, "second")).id == 1)
        #expect(try opens(bench, secret("new")) && opens(bench, secret("second")))
        #expect(try !opens(bench, secret("correct")))
        #expect(try opens(Bench(copying: older), secret("correct")))
        #expect(bench.store.records.itemRecords == older.itemRecords)
        for row in rows { #expect(try bench.contents(row) == [row.protection.rawValue]) }
        #expect(try bench.addCounted(.sample(id: 200, account: "later"), [1]).generation == 2)
        #expect(try isSound(bench))
        #expect(try !knowsUserKey(of: bench, from: older))
        // And the only slot there is.
        _ = try bench.ring.removeSlot(2, authorizedBy: root(bench, "new"))
        _ = try bench.ring.changeSlot(1, to: secret("last"), authorizedBy: root(bench, "new"))
        #expect(try kinds(bench) == [1: .passphrase])
        #expect(try opens(bench, secret("last")))
    }

    @Test("L5: a removed slot opens the new store no more, an older copy it does; the last one stays")
    func remove() throws {
        let (bench, rows) = try filled()
        _ = try bench.ring.addSlot(secret("second"), authorizedBy: root(bench))
        let older = bench.store.records
        #expect(throws: KeychainError.itemNotFound) { try bench.ring.removeSlot(9, authorizedBy: root(bench)) }
        #expect(try bench.ring.removeSlot(1, authorizedBy: root(bench)).id == 1)
        #expect(try opens(bench, secret("second")))
        #expect(try !opens(bench, secret("correct")))
        #expect(try opens(Bench(copying: older), secret("correct")))
        #expect(try !knowsUserKey(of: bench, from: older))
        for row in rows { #expect(try bench.contents(row) == [row.protection.rawValue]) }
        #expect(throws: KeychainError.slotRefused(.lastSlot)) {
            try bench.ring.removeSlot(2, authorizedBy: root(bench, "second"))
        }
        #expect(try isSound(bench))
    }

    @Test("L5: a slot that this version cannot open, or that somebody has planted, does not make another one spare")
    func lastUsable() throws {
        let bench = try Bench()
        var records = bench.store.records
        let store = try #require(records.storeRecord)
        let key = try bench.ring.userKey(passphrase: SecretBytes(text: "correct"))
        let other = try SlotSecret(root: SecretBytes(randomCount: 32), store: store.identifier, slot: 5)
        let place = SlotPlace(store: store.identifier, id: 5, kind: .fido2, userKeyGeneration: 1)
        records.slotRecords[5] = try SlotRecord(wrapping: key, for: other.recipient(), at: place)
        let planted = SlotPlace(store: store.identifier, id: 6, kind: .keyFile, userKeyGeneration: 1)
        records.slotRecords[6] = try SlotRecord(
            wrapping: SecretBytes(randomCount: 32), for: other.recipient(), at: planted)
        bench.store.records = records
        #expect(throws: KeychainError.slotRefused(.lastSlot)) {
            try bench.ring.removeSlot(1, authorizedBy: root(bench))
        }
    }

    @Test("S3: a planted slot is no authority, is wrapped for by no change, and is told when it goes")
    func planted() throws {
        let bench = try Bench()
        var records = bench.store.records
        let store = try #require(records.storeRecord)
        let evil = try bench.ring.root(of: keyFile(66))
        let secret = try SlotSecret(root: evil.bytes, store: store.identifier, slot: 2)
        let place = SlotPlace(store: store.identifier, id: 2, kind: .keyFile, userKeyGeneration: 1)
        records.slotRecords[2] = try SlotRecord(
            wrapping: SecretBytes(randomCount: 32), for: secret.recipient(), at: place)
        bench.store.records = records
        #expect(throws: KeychainError.authFailed) { try bench.ring.verify(evil) }
        #expect(throws: KeychainError.authFailed) { try bench.ring.addSlot(keyFile(67), authorizedBy: evil) }
        #expect(throws: KeychainError.authFailed) { try bench.ring.removeSlot(1, authorizedBy: evil) }
        let change = try bench.ring.changeSlot(1, to: self.secret("new"), authorizedBy: root(bench))
        #expect(change.lostSlots == [2] && bench.store.records.slotRecords[2] == nil)
        #expect(try !opens(bench, keyFile(66)))
    }

    @Test("L5: the cost is raised while there is one passphrase slot, with another salt, and never lowered")
    func cost() throws {
        let bench = try Bench()
        let old = try #require(bench.store.records.storeRecord)
        let higher = Argon2id.Cost(passes: 2, memory: 8192)
        _ = try bench.ring.changeSlot(1, to: secret("correct"), cost: higher, authorizedBy: root(bench))
        let raised = try #require(bench.store.records.storeRecord)
        #expect(raised.cost == higher && raised.salt != old.salt)
        #expect(try opens(bench, secret("correct")))
        #expect(try bench.ring.slots() == [SlotSummary(id: 1, kind: .passphrase, cost: higher)])
        // Lower in one, higher in the other.
        let mixed = Argon2id.Cost(passes: 1, memory: 16384)
        _ = try bench.ring.changeSlot(1, to: secret("correct"), cost: mixed, authorizedBy: root(bench))
        let both = try #require(bench.store.records.storeRecord)
        #expect(both.cost == Argon2id.Cost(passes: 2, memory: 16384))
        _ = try bench.ring.changeSlot(1, to: secret("x"), cost: .cheap, authorizedBy: root(bench))
        #expect(
            bench.store.records.storeRecord?.cost == both.cost && bench.store.records.storeRecord?.salt == both.salt)
        #expect(try opens(bench, secret("x")))
        // A second passphrase shares it; a key file does not mind.
        _ = try bench.ring.addSlot(keyFile(), authorizedBy: root(bench, "x"))
        let most = Argon2id.Cost(passes: 3, memory: 16384)
        _ = try bench.ring.changeSlot(1, to: secret("x"), cost: most, authorizedBy: root(bench, "x"))
        #expect(try opens(bench, keyFile()))
        _ = try bench.ring.addSlot(secret("second"), authorizedBy: root(bench, "x"))
        let more = Argon2id.Cost(passes: 4, memory: 16384)
        #expect(throws: KeychainError.slotRefused(.sharedCost)) {
            try bench.ring.changeSlot(1, to: secret("x"), cost: more, authorizedBy: root(bench, "x"))
        }
        #expect(throws: KeychainError.param) {
            try bench.ring.changeSlot(2, to: keyFile(), cost: more, authorizedBy: root(bench, "x"))
        }
        #expect(throws: KeychainError.unacceptableCost) {
            let beyond = Argon2id.Cost(passes: 11, memory: 16384)
            _ = try bench.ring.changeSlot(1, to: secret("x"), cost: beyond, authorizedBy: root(bench, "x"))
        }
        #expect(try isSound(bench))
    }

    @Test("L5: each slot has a secret of its own: what opens another one is refused, nothing is changed")
    func sameSecret() throws {
        let bench = try Bench()
        _ = try bench.ring.addSlot(secret("second"), authorizedBy: root(bench))
        _ = try bench.ring.addSlot(keyFile(), authorizedBy: root(bench))
        let before = bench.store.records.slotRecords
        #expect(throws: KeychainError.slotRefused(.sameSecret)) {
            try bench.ring.addSlot(secret("second"), authorizedBy: root(bench))
        }
        #expect(throws: KeychainError.slotRefused(.sameSecret)) {
            try bench.ring.addSlot(keyFile(), authorizedBy: root(bench))
        }
        // `slot change 2 --kdf` by who knows the passphrase of slot 1, at a cost that the store has.
        #expect(throws: KeychainError.slotRefused(.sameSecret)) {
            try bench.ring.changeSlot(2, to: secret("correct"), cost: .cheap, authorizedBy: root(bench))
        }
        #expect(bench.store.records.slotRecords == before)
        _ = try bench.ring.changeSlot(2, to: secret("second"), cost: .cheap, authorizedBy: root(bench, "second"))
        #expect(try opens(bench, secret("second")))
    }

    @Test("L5: a forged slot at the end of all numbers makes no new slot take the place of another")
    func forgedNumber() throws {
        let bench = try Bench()
        var records = bench.store.records
        var forged = try #require(records.slotRecords[1])
        forged.id = ClassKeyRecord.numbers.upperBound - 1
        records.slotRecords[forged.id] = forged
        bench.store.records = records
        _ = try bench.ring.addSlot(secret("second"), authorizedBy: root(bench))
        _ = try bench.ring.addSlot(keyFile(), authorizedBy: root(bench))
        for passphrase in ["correct", "second"] { #expect(try opens(bench, secret(passphrase))) }
        #expect(try opens(bench, keyFile()))
    }

    @Test("L5: an authority that was derived at another cost, or whose slot has gone, is none any more")
    func staleAuthority() throws {
        let bench = try Bench()
        let stale = try root(bench)
        let higher = Argon2id.Cost(passes: 2, memory: 8192)
        _ = try bench.ring.changeSlot(1, to: secret("correct"), cost: higher, authorizedBy: stale)
        #expect(throws: KeychainError.inUse(processID: 0)) { try bench.ring.addSlot(keyFile(), authorizedBy: stale) }
        let fresh = try root(bench)
        _ = try bench.ring.changeSlot(1, to: secret("new"), authorizedBy: fresh)
        #expect(throws: KeychainError.authFailed) { try bench.ring.addSlot(keyFile(), authorizedBy: fresh) }
    }

    @Test("L5, F4: a change that fails in the store leaves everything as it was", arguments: 0..<4)
    func failures(operation: Int) throws {
        let (bench, rows) = try filled()
        _ = try bench.ring.addSlot(secret("second"), authorizedBy: root(bench))
        let before = bench.store.records
        bench.store.failNextWrite(with: .diskFull)
        #expect(throws: KeychainError.diskFull) {
            switch operation {
            case 0: _ = try bench.ring.addSlot(keyFile(), authorizedBy: root(bench))
            case 1: _ = try bench.ring.changeSlot(1, to: secret("new"), authorizedBy: root(bench))
            case 2: _ = try bench.ring.removeSlot(1, authorizedBy: root(bench))
            default:
                _ = try bench.ring.removeSlot(2, authorizedBy: root(bench))
            }
        }
        let after = bench.store.records
        #expect(after.slotRecords == before.slotRecords && after.storeRecord == before.storeRecord)
        #expect(after.classKeyRecords == before.classKeyRecords && after.userKeyRecords == before.userKeyRecords)
        for passphrase in ["correct", "second"] { #expect(try opens(bench, secret(passphrase))) }
        for row in rows { #expect(try bench.contents(row) == [row.protection.rawValue]) }
        #expect(try bench.addCounted(.sample(id: 200, account: "later"), [1]).generation == 1)
        #expect(try isSound(bench))
    }

    @Test("L2, L5: a locked keychain stays locked whatever becomes of its slots; before the first unlock nothing does")
    func locked() throws {
        let (bench, rows) = try filled()
        bench.ring.lock()
        _ = try bench.ring.addSlot(secret("second"), authorizedBy: root(bench))
        _ = try bench.ring.changeSlot(1, to: secret("new"), authorizedBy: root(bench))
        _ = try bench.ring.removeSlot(1, authorizedBy: root(bench, "second"))
        #expect(bench.ring.state == .locked)
        for protection in Protection.allCases {
            #expect(bench.ring.isAvailable(protection) == (protection.availability != .unlocked))
        }
        try bench.unlock("second")
        for row in rows { #expect(try bench.contents(row) == [row.protection.rawValue]) }
        let cold = try Bench(copying: bench.store.records)
        #expect(throws: KeychainError.interactionNotAllowed) {
            try cold.ring.addSlot(keyFile(), authorizedBy: root(cold, "second"))
        }
        let readOnly = try Bench(copying: bench.store.records, isReadOnly: true)
        try readOnly.unlock("second")
        #expect(throws: KeychainError.readOnly) {
            try readOnly.ring.addSlot(keyFile(), authorizedBy: root(readOnly, "second"))
        }
    }

    @Test("L5: of two who remove each other's slot at once one comes too late")
    func race() throws {
        for _ in 0..<10 {
            let bench = try Bench()
            _ = try bench.ring.addSlot(secret("second"), authorizedBy: root(bench))
            let done = Mutex<[KeychainError?]>([])
            DispatchQueue.concurrentPerform(iterations: 2) { index in
                let own = index == 0 ? "correct" : "second"
                let outcome: KeychainError?
                do throws(KeychainError) {
                    let passphrase = try KeychainError.translating { () throws(CryptoError) in
                        try SecretBytes(text: own)
                    }
                    let authority = try bench.ring.root(of: UnlockSecret(passphrase: passphrase))
                    _ = try bench.ring.removeSlot(index == 0 ? 2 : 1, authorizedBy: authority)
                    outcome = nil
                } catch { outcome = error }
                done.withLock { $0.append(outcome) }
            }
            #expect(Set(done.withLock { $0 }) == [nil, .authFailed])
            #expect(bench.store.records.slotRecords.count == 1)
        }
    }

    @Test("S4: where a row of a key cannot be read no slot changes: it could be one")
    func damaged() throws {
        let bench = try Bench()
        var records = bench.store.records
        records.damagedKeyCount = 1
        bench.store.records = records
        #expect(throws: KeychainError.decode) { try bench.ring.addSlot(keyFile(), authorizedBy: root(bench)) }
        #expect(throws: KeychainError.decode) {
            try bench.ring.changeSlot(1, to: secret("new"), authorizedBy: root(bench))
        }
    }

    @Test("L5: numbers that nobody would come to are no slot numbers, and stand in no one's way")
    func hugeNumbers() throws {
        let bench = try Bench()
        var records = bench.store.records
        for id in [Int64.max, .min, 0] {
            records.slotRecords[id] = records.slotRecords[1]
            records.slotRecords[id]?.id = id
        }
        bench.store.records = records
        #expect(try bench.ring.addSlot(keyFile(), authorizedBy: root(bench)).id == 2)
        #expect(try opens(bench, keyFile()))
    }
}
