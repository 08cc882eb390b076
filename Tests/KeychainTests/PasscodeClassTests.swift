import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain

/// L5, section 4: WhenPasscodeSetThisDeviceOnly, as passphrase slots come and go.
@Suite("WhenPasscodeSet")
struct PasscodeClassTests {
    private static let passcode = ProtectionClass.whenPasscodeSetThisDeviceOnly

    private func secret(_ passphrase: String) throws -> UnlockSecret {
        UnlockSecret(passphrase: try SecretBytes(text: passphrase))
    }

    private func keyFile(_ fill: UInt8 = 7) throws -> UnlockSecret {
        try UnlockSecret(keyFile: SecretBytes(copying: [UInt8](repeating: fill, count: 64).rawSpan))
    }

    /// A passphrase in slot 1, a key file in slot 2, items of the class and of another.
    private func filled() throws -> (KeyRingFixture, passcode: ItemRecord, other: ItemRecord) {
        let fixture = try KeyRingFixture()
        _ = try fixture.ring.addSlot(keyFile(), authorizedBy: fixture.ring.root(of: secret("correct")))
        let passcode = try fixture.addCounted(.sample(Self.passcode, id: 100, account: "a"), [1])
        let other = try fixture.addCounted(.sample(.whenUnlockedThisDeviceOnly, id: 101, account: "b"), [2])
        return (fixture, passcode, other)
    }

    @Test(
        "the last passphrase slot stays unless its items may be deleted; then they and all keys of the class are deleted"
    )
    func removal() throws {
        let (fixture, passcode, other) = try filled()
        let authority = try fixture.ring.root(of: keyFile())
        let before = fixture.store.records
        #expect(throws: KeychainFault.slotRefused(.passcodeItems)) {
            try fixture.ring.removeSlot(1, authorizedBy: authority)
        }
        #expect(throws: KeychainFault.slotRefused(.passcodeItems)) {
            try fixture.ring.changeSlot(1, to: keyFile(8), authorizedBy: authority)
        }
        #expect(fixture.store.records.slotRecords == before.slotRecords)
        #expect(try fixture.contents(passcode) == [1])
        let change = try fixture.ring.removeSlot(1, authorizedBy: authority, deletesPasscodeItems: true)
        #expect(change.deletedItems == 1)
        let after = fixture.store.records
        #expect(after.itemRecords.keys.sorted() == [other.id])
        #expect(after.secrets[passcode.id] == nil)
        #expect(!after.classKeyRecords.contains { $0.purpose == .protection(Self.passcode) })
        #expect(!fixture.ring.isAvailable(Self.passcode))
        #expect(throws: KeychainFault.interactionNotAllowed) { try fixture.ring.currentKeys(for: Self.passcode) }
        #expect(throws: KeychainFault.interactionNotAllowed) { try fixture.items.open(passcode) }
        #expect(try fixture.contents(other) == [2])
        let keychain = KeychainStore(store: fixture.store, keys: fixture.ring) { .sample }
        #expect(try keychain.verifyNow().rows == nil)
    }

    @Test("L6: items of other devices are deleted too; those devices have the class again when it is restored")
    func otherDevices() throws {
        let (fixture, passcode, _) = try filled()
        let second = try KeyRingFixture(copying: fixture.store.records, device: 2)
        try second.unlock()
        let others = try second.addCounted(.sample(Self.passcode, id: 300, account: "c"), [3])
        let back = try KeyRingFixture(copying: second.store.records)
        try back.unlock()
        let authority = try back.ring.root(of: keyFile())
        let change = try back.ring.removeSlot(1, authorizedBy: authority, deletesPasscodeItems: true)
        #expect(change.deletedItems == 2)
        #expect(back.store.records.itemRecords.keys.allSatisfy { $0 != passcode.id && $0 != others.id })
        _ = try back.ring.addSlot(secret("again"), authorizedBy: authority)
        let again = try KeyRingFixture(copying: back.store.records, device: 2)
        try again.unlock("again")
        #expect(try again.contents(again.addCounted(.sample(Self.passcode, id: 301), [4])) == [4])
    }

    @Test("without items of the class no consent is requested")
    func nothingToDelete() throws {
        let fixture = try KeyRingFixture()
        _ = try fixture.ring.addSlot(keyFile(), authorizedBy: fixture.ring.root(of: secret("correct")))
        let change = try fixture.ring.removeSlot(1, authorizedBy: fixture.ring.root(of: keyFile()))
        #expect(change.deletedItems == 0 && !fixture.ring.isAvailable(Self.passcode))
    }

    @Test("another passphrase slot keeps the class, and a change to another passphrase does")
    func kept() throws {
        let (fixture, passcode, _) = try filled()
        _ = try fixture.ring.addSlot(secret("second"), authorizedBy: fixture.ring.root(of: keyFile()))
        _ = try fixture.ring.removeSlot(1, authorizedBy: fixture.ring.root(of: keyFile()))
        _ = try fixture.ring.changeSlot(3, to: secret("third"), authorizedBy: fixture.ring.root(of: keyFile()))
        #expect(try fixture.contents(passcode) == [1])
        #expect(fixture.ring.isAvailable(Self.passcode))
    }

    @Test("a new passphrase slot restores the class, with new keys, immediately and at the next unlock")
    func comesBack() throws {
        let (fixture, passcode, _) = try filled()
        let authority = try fixture.ring.root(of: keyFile())
        _ = try fixture.ring.removeSlot(1, authorizedBy: authority, deletesPasscodeItems: true)
        #expect(throws: KeychainFault.interactionNotAllowed) {
            try fixture.addCounted(.sample(Self.passcode, id: 200), [3])
        }
        _ = try fixture.ring.addSlot(secret("again"), authorizedBy: authority)
        #expect(fixture.ring.isAvailable(Self.passcode))
        let row = try fixture.addCounted(.sample(Self.passcode, id: 201), [4])
        let later = try KeyRingFixture(copying: fixture.store.records)
        try later.unlock("again")
        #expect(try later.contents(row) == [4])
        // A deleted item stays unusable, even if its row is restored.
        #expect(throws: KeychainFault.self) { try later.items.open(passcode) }
    }

    @Test("in a locked keychain they go as well")
    func removalWhileLocked() throws {
        let (fixture, passcode, _) = try filled()
        let authority = try fixture.ring.root(of: keyFile())
        fixture.ring.lock()
        let change = try fixture.ring.removeSlot(1, authorizedBy: authority, deletesPasscodeItems: true)
        #expect(change.deletedItems == 1 && fixture.ring.state == .locked)
        try fixture.ring.unlock(with: keyFile())
        #expect(fixture.store.records.itemRecords[passcode.id] == nil)
        #expect(!fixture.ring.isAvailable(Self.passcode) && fixture.ring.isAvailable(.whenUnlocked))
    }

    @Test("added while locked, the class is restored locked")
    func comesBackLocked() throws {
        let (fixture, _, _) = try filled()
        let authority = try fixture.ring.root(of: keyFile())
        _ = try fixture.ring.removeSlot(1, authorizedBy: authority, deletesPasscodeItems: true)
        fixture.ring.lock()
        _ = try fixture.ring.addSlot(secret("again"), authorizedBy: authority)
        #expect(!fixture.ring.isAvailable(Self.passcode))
        try fixture.unlock("again")
        #expect(fixture.ring.isAvailable(Self.passcode))
    }
}
