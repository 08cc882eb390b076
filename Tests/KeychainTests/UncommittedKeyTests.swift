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
}
