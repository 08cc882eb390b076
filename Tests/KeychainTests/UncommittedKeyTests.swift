import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain

/// Rows of slots, devices and keys that were written without the user key.
@Suite("uncommitted rows of keys")
struct UncommittedKeyTests {
    private func secret(_ passphrase: String) throws -> UnlockSecret {
        UnlockSecret(passphrase: try SecretBytes(text: passphrase))
    }

    private func keyFile() throws -> UnlockSecret {
        try UnlockSecret(keyFile: SecretBytes(copying: [UInt8](repeating: 7, count: 64).rawSpan))
    }

    @Test("S3: without the user key nothing changes slots: a row of keys that was not committed refuses each change")
    func uncommittedRows() throws {
        let fixture = try KeyRingFixture()
        let intact = fixture.store.records
        for change: (inout InMemoryRecords) -> Void in [
            { $0.slotRecords[2] = $0.slotRecords[1].map { SlotRecord(copying: $0, id: 2) } },
            { $0.storeRecord?.salt[0] ^= 1 }, { $0.storeRecord?.cost = Argon2id.Cost(passes: 2, memory: 8192) },
            { $0.storeRecord?.readerMask = 1 }, { $0.storeRecord?.writerMask = 0x100 },
            { $0.deviceRecords[1] = nil }, { $0.deviceRecords[9] = DeviceRecord(id: 9, tag: Array(0..<16)) },
            { $0.classKeyRecords.removeLast() }, { $0.slotRecords[1]?.recipient.ciphertext[0] ^= 1 },
        ] {
            var changed = intact
            change(&changed)
            fixture.store.records = changed
            let authority = try fixture.ring.root(of: secret("correct"))
            let (before, after) = (intact.storeRecord, changed.storeRecord)
            if after?.salt == before?.salt, after?.cost == before?.cost {
                #expect(throws: KeychainFault.decode) { try fixture.ring.addSlot(keyFile(), authorizedBy: authority) }
                #expect(throws: KeychainFault.decode) {
                    try fixture.ring.changeSlot(1, to: self.secret("new"), authorizedBy: authority)
                }
            }
            #expect(fixture.store.records.slotRecords == changed.slotRecords)
            // A store with an unknown bit is not even opened (R49).
            guard changed.storeRecord?.readerMask == 0 else { continue }
            let again = try KeyRingFixture(copying: changed, commitsKeys: false)
            #expect(throws: KeychainFault.self) { try again.unlock() }
            #expect(again.ring.state == .beforeFirstUnlock && again.store.writeCount == 0)
        }
    }

    @Test("M6: with a changed salt, cost, device or key no secret unlocks, also if it does not use them")
    func changedParameters() throws {
        let fixture = try KeyRingFixture()
        _ = try fixture.ring.addSlot(keyFile(), authorizedBy: fixture.ring.root(of: secret("correct")))
        let intact = fixture.store.records
        for change: (inout InMemoryRecords) -> Void in [
            { $0.storeRecord?.salt[0] ^= 1 }, { $0.storeRecord?.cost = Argon2id.Cost(passes: 2, memory: 8192) },
            { $0.slotRecords[1] = nil }, { $0.deviceRecords[1] = nil }, { $0.classKeyRecords.removeLast() },
        ] {
            var changed = intact
            change(&changed)
            let again = try KeyRingFixture(copying: changed, commitsKeys: false)
            #expect(throws: KeychainFault.decode) { try again.ring.unlock(with: keyFile()) }
            #expect(again.ring.state == .beforeFirstUnlock && again.store.writeCount == 0)
        }
        let again = try KeyRingFixture(copying: intact, commitsKeys: false)
        try again.ring.unlock(with: keyFile())
    }

    @Test("L1: a planted slot, whose key does not open the master keys, is refused, also while unlocked")
    func plantedSlot() throws {
        let fixture = try KeyRingFixture()
        let store = try #require(fixture.store.records.storeRecord)
        let root = try SlotUnlock.root(of: keyFile(), store: store)
        let address = SlotAddress(store: store.identifier, id: 9, kind: .keyFile, userKeyGeneration: 1)
        var records = fixture.store.records
        records.slotRecords[9] = try SlotRecord(
            wrapping: SecretBytes(randomCount: 32),
            for: SlotSecret(root: root.bytes, store: store.identifier, slot: 9).recipient(), at: address)
        fixture.store.records = records
        #expect(throws: KeychainFault.decode) { try fixture.ring.unlock(with: keyFile()) }
        #expect(fixture.ring.state == .unlocked)
        #expect(throws: KeychainFault.decode) { try fixture.ring.verify(fixture.ring.root(of: keyFile())) }
    }
}
