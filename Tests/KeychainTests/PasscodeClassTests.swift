import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain

/// L5, section 4: WhenPasscodeSetThisDeviceOnly, as passphrase slots come and go.
@Suite("WhenPasscodeSet")
struct PasscodeClassTests {
    private static let passcode = Protection.whenPasscodeSetThisDeviceOnly

    private func secret(_ passphrase: String) throws -> UnlockSecret {
        UnlockSecret(passphrase: try SecretBytes(text: passphrase))
    }

    private func keyFile(_ fill: UInt8 = 7) throws -> UnlockSecret {
        try UnlockSecret(keyFile: SecretBytes(copying: [UInt8](repeating: fill, count: 64).rawSpan))
    }

    /// A passphrase in slot 1, a key file in slot 2, items of the class and of another.
    private func filled() throws -> (Bench, passcode: ItemRecord, other: ItemRecord) {
        let bench = try Bench()
        _ = try bench.ring.addSlot(keyFile(), authorizedBy: bench.ring.root(of: secret("correct")))
        let passcode = try bench.addCounted(.sample(Self.passcode, id: 100, account: "a"), [1])
        let other = try bench.addCounted(.sample(.whenUnlockedThisDeviceOnly, id: 101, account: "b"), [2])
        return (bench, passcode, other)
    }

    @Test("the last passphrase slot stays unless its items may go; then they and all keys of the class are gone")
    func removal() throws {
        let (bench, passcode, other) = try filled()
        let authority = try bench.ring.root(of: keyFile())
        let before = bench.store.records
        #expect(throws: KeychainError.slotRefused(.passcodeItems)) {
            try bench.ring.removeSlot(1, authorizedBy: authority)
        }
        #expect(throws: KeychainError.slotRefused(.passcodeItems)) {
            try bench.ring.changeSlot(1, to: keyFile(8), authorizedBy: authority)
        }
        #expect(bench.store.records.slotRecords == before.slotRecords)
        #expect(try bench.contents(passcode) == [1])
        let change = try bench.ring.removeSlot(1, authorizedBy: authority, deletesPasscodeItems: true)
        #expect(change.deletedItems == 1)
        let after = bench.store.records
        #expect(after.itemRecords.keys.sorted() == [other.id])
        #expect(after.secrets[passcode.id] == nil)
        #expect(!after.classKeyRecords.contains { $0.purpose == .protection(Self.passcode) })
        #expect(!bench.ring.isAvailable(Self.passcode))
        #expect(throws: KeychainError.interactionNotAllowed) { try bench.ring.currentKeys(for: Self.passcode) }
        #expect(throws: KeychainError.interactionNotAllowed) { try bench.items.open(passcode) }
        #expect(try bench.contents(other) == [2])
        let keychain = try Keychain(store: bench.store, keys: bench.ring) { .sample }
        #expect(try keychain.verifyNow().rows == nil)
    }

    @Test("L6: items of other devices are gone too; those devices have the class again when it comes back")
    func otherDevices() throws {
        let (bench, passcode, _) = try filled()
        let second = try Bench(copying: bench.store.records, device: 2)
        try second.unlock()
        let theirs = try second.addCounted(.sample(Self.passcode, id: 300, account: "c"), [3])
        let back = try Bench(copying: second.store.records)
        try back.unlock()
        let authority = try back.ring.root(of: keyFile())
        let change = try back.ring.removeSlot(1, authorizedBy: authority, deletesPasscodeItems: true)
        #expect(change.deletedItems == 2)
        #expect(back.store.records.itemRecords.keys.allSatisfy { $0 != passcode.id && $0 != theirs.id })
        _ = try back.ring.addSlot(secret("again"), authorizedBy: authority)
        let again = try Bench(copying: back.store.records, device: 2)
        try again.unlock("again")
        #expect(try again.contents(again.addCounted(.sample(Self.passcode, id: 301), [4])) == [4])
    }

    @Test("without items of the class nothing is asked")
    func nothingToDelete() throws {
        let bench = try Bench()
        _ = try bench.ring.addSlot(keyFile(), authorizedBy: bench.ring.root(of: secret("correct")))
        let change = try bench.ring.removeSlot(1, authorizedBy: bench.ring.root(of: keyFile()))
        #expect(change.deletedItems == 0 && !bench.ring.isAvailable(Self.passcode))
    }

    @Test("another passphrase slot keeps the class, and a change to another passphrase does")
    func kept() throws {
        let (bench, passcode, _) = try filled()
        _ = try bench.ring.addSlot(secret("second"), authorizedBy: bench.ring.root(of: keyFile()))
        _ = try bench.ring.removeSlot(1, authorizedBy: bench.ring.root(of: keyFile()))
        _ = try bench.ring.changeSlot(3, to: secret("third"), authorizedBy: bench.ring.root(of: keyFile()))
        #expect(try bench.contents(passcode) == [1])
        #expect(bench.ring.isAvailable(Self.passcode))
    }

    @Test("a new passphrase slot brings the class back, with keys of its own, at once and at the next unlock")
    func comesBack() throws {
        let (bench, passcode, _) = try filled()
        let authority = try bench.ring.root(of: keyFile())
        _ = try bench.ring.removeSlot(1, authorizedBy: authority, deletesPasscodeItems: true)
        #expect(throws: KeychainError.interactionNotAllowed) {
            try bench.addCounted(.sample(Self.passcode, id: 200), [3])
        }
        _ = try bench.ring.addSlot(secret("again"), authorizedBy: authority)
        #expect(bench.ring.isAvailable(Self.passcode))
        let row = try bench.addCounted(.sample(Self.passcode, id: 201), [4])
        let later = try Bench(copying: bench.store.records)
        try later.unlock("again")
        #expect(try later.contents(row) == [4])
        // What was deleted stays gone, even put back by hand.
        #expect(throws: KeychainError.self) { try later.items.open(passcode) }
    }

    @Test("in a locked keychain they go as well")
    func removalWhileLocked() throws {
        let (bench, passcode, _) = try filled()
        let authority = try bench.ring.root(of: keyFile())
        bench.ring.lock()
        let change = try bench.ring.removeSlot(1, authorizedBy: authority, deletesPasscodeItems: true)
        #expect(change.deletedItems == 1 && bench.ring.state == .locked)
        try bench.ring.unlock(with: keyFile())
        #expect(bench.store.records.itemRecords[passcode.id] == nil)
        #expect(!bench.ring.isAvailable(Self.passcode) && bench.ring.isAvailable(.whenUnlocked))
    }

    @Test("added while locked the class comes back locked")
    func comesBackLocked() throws {
        let (bench, _, _) = try filled()
        let authority = try bench.ring.root(of: keyFile())
        _ = try bench.ring.removeSlot(1, authorizedBy: authority, deletesPasscodeItems: true)
        bench.ring.lock()
        _ = try bench.ring.addSlot(secret("again"), authorizedBy: authority)
        #expect(!bench.ring.isAvailable(Self.passcode))
        try bench.unlock("again")
        #expect(bench.ring.isAvailable(Self.passcode))
    }
}
