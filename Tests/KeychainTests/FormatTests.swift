import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain

/// Properties of format 2 beyond the codecs: damage affects only the damaged rows, and parts of two stores cannot be
/// combined.
@Suite("store format")
struct FormatTests {
    /// More than the locked memory can hold.
    private let huge = [UInt8](repeating: 7, count: 4 << 20)

    @Test("S4: a ciphertext of a size that is never written is damage, not a lack of memory")
    func oversized() throws {
        let fixture = try KeyRingFixture()
        var row = try fixture.add(.sample(), [1])
        row.metadata.ciphertext = huge
        #expect(throws: KeychainFault.decode) { try fixture.items.open(row) }
        var container = try fixture.directories.seal(.container, alsoAlways: false)
        container.name.ciphertext = huge
        #expect(throws: KeychainFault.decode) { try fixture.directories.open(container) }
        var records = fixture.store.records
        let sealed = try #require(records.storeRecord)
        records.storeRecord?.header.ciphertext = huge
        #expect(throws: KeychainFault.decode) { try fixture.ring.header(of: #require(records.storeRecord)) }
        records.storeRecord = sealed
        for index in records.classKeyRecords.indices { records.classKeyRecords[index].keys.ciphertext = huge }
        let keyless = try KeyRingFixture(copying: records)
        try keyless.unlock()
        #expect(throws: KeychainFault.decode) { try keyless.ring.currentKeys(for: .whenUnlocked) }
        records.slotRecords[1]?.userKey.ciphertext = huge
        #expect(throws: KeychainFault.authFailed) { try KeyRingFixture(copying: records).unlock() }
    }

    @Test("S4: the row of one copy of a store and the contents of another do not make an item, though versions agree")
    func branches() throws {
        let fixture = try KeyRingFixture()
        let one = try fixture.add(.sample(), Array("one".utf8))
        let other = try fixture.add(.sample(), Array("two".utf8))
        let ciphertext = try fixture.store.read { (reader) throws(KeychainFault) in try reader.secret(of: other.id) }
        var mixture = one
        mixture.secretSeals = other.secretSeals
        #expect(try fixture.contents(other, ciphertext: ciphertext) == Array("two".utf8))
        #expect(throws: KeychainFault.decode) { try fixture.contents(mixture, ciphertext: ciphertext) }
    }

    @Test("S3: what only claims to be a passphrase slot keeps no WhenPasscodeSet item alive")
    func claimedPassphrase() throws {
        let fixture = try KeyRingFixture()
        let row = try fixture.add(.sample(.whenPasscodeSetThisDeviceOnly), [1])
        var records = fixture.store.records
        // The only passphrase slot becomes that of a key file; next to it is a planted row.
        let store = try #require(records.storeRecord)
        let root = try SlotUnlock.root(passphrase: SecretBytes(text: "correct"), store: store)
        let slots = Array(records.slotRecords.values)
        let userKey = try SlotUnlock.userKey(root: root, kind: .passphrase, slots: slots, store: store)
        let place = SlotAddress(store: store.identifier, id: 2, kind: .keyFile, userKeyGeneration: 1)
        let secret = try SlotSecret(root: root, store: store.identifier, slot: 2)
        records.slotRecords[2] = try SlotRecord(wrapping: userKey, for: secret.recipient(), at: place)
        records.slotRecords[1]?.recipient.ciphertext[0] ^= 1
        let ring = try KeyRing(
            store: InMemoryRecordStore(records.withCommittedKeys()), device: KeyRingFixture.device())
        let stored = try ring.store.read { (reader) throws(KeychainFault) in try KeySnapshot(reader) }
        try ring.unlock(root: root, kind: .keyFile, records: stored)
        #expect(throws: KeychainFault.interactionNotAllowed) { try ItemEnvelope(ring: ring).open(row) }
    }

    @Test("S4: check also opens the columns that only a mount before its first unlock would open")
    func alwaysName() throws {
        let fixture = try KeyRingFixture()
        let keychain = KeychainStore(store: fixture.store, keys: fixture.ring) { .sample }
        try keychain.change { (transaction) throws(KeychainFault) in
            try transaction.writer.put(try fixture.directories.seal(.container, alsoAlways: true))
        }
        #expect(try keychain.check().isConsistent)
        let row = try #require(fixture.store.records.directoryRecords.values.first)
        var changed = row
        changed.alwaysName?.ciphertext[3] ^= 1
        var records = fixture.store.records
        try records.put(changed)
        fixture.store.records = records
        let report = try keychain.check()
        #expect(report.damagedDirectories == [row.id] && report.rowFault == .rowsReplaced)
    }

    @Test("S2: the digest detects a changed byte in any key, even one that cannot be opened")
    func keyCiphertexts() throws {
        let fixture = try KeyRingFixture()
        let keychain = KeychainStore(store: fixture.store, keys: fixture.ring) { .sample }
        let intact = fixture.store.records
        var changes: [(inout InMemoryRecords) -> Void] = [
            { $0.slotRecords[1]?.recipient.ciphertext[0] ^= 1 }, { $0.slotRecords[1]?.userKey.ciphertext[0] ^= 1 },
            { $0.storeRecord?.masterKeys.ciphertext[0] ^= 1 }, { $0.deviceRecords[1]?.tag[0] ^= 1 },
        ]
        for index in intact.classKeyRecords.indices {
            changes.append { $0.classKeyRecords[index].keys.ciphertext[0] ^= 1 }
        }
        #expect(try keychain.check().rowFault == nil)
        for change in changes {
            fixture.store.records = intact
            change(&fixture.store.records)
            #expect(try keychain.check().rowFault == .rowsReplaced)
        }
    }
}
