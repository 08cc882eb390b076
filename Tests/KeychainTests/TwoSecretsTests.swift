import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain

@Suite("slots of a passphrase and a key file")
struct TwoSecretsTests {
    private let fixture: KeyRingFixture
    private let file = [UInt8](repeating: 7, count: 64)

    init() throws {
        fixture = try KeyRingFixture()
        _ = try fixture.ring.addSlot(secret(), authorizedBy: first())
    }

    private func first() throws -> SlotRootKey {
        try fixture.ring.root(of: UnlockSecret(passphrase: SecretBytes(text: "correct")))
    }

    private func secret(_ passphrase: String = "both", _ file: [UInt8]? = nil) throws -> UnlockSecret {
        let contents = file ?? self.file
        return try UnlockSecret(
            passphrase: SecretBytes(text: passphrase), keyFile: SecretBytes(copying: contents.rawSpan))
    }

    private func opens(_ secret: consuming UnlockSecret) throws -> Bool {
        let again = try KeyRingFixture(copying: fixture.store.records)
        do throws(KeychainFault) {
            try again.ring.unlock(with: secret)
            return true
        } catch .authFailed {
            return false
        }
    }

    @Test("L5: only both together open the slot")
    func both() throws {
        #expect(fixture.store.records.slotRecords[2]?.kind == .passphraseAndKeyFile)
        #expect(try opens(secret()))
        #expect(try !opens(secret("other")))
        #expect(try !opens(secret("both", file + [0])))
        #expect(try !opens(UnlockSecret(passphrase: SecretBytes(text: "both"))))
        #expect(try !opens(UnlockSecret(keyFile: SecretBytes(copying: file.rawSpan))))
    }

    @Test("L5: it counts as a passphrase for WhenPasscodeSet and for the cost")
    func passphrase() throws {
        let item = try fixture.addCounted(.sample(.whenPasscodeSetThisDeviceOnly, id: 100), [1])
        let cost = Argon2id.Cost(passes: 1, memory: 16384)
        #expect(throws: KeychainFault.slotRefused(.sharedCost)) {
            _ = try fixture.ring.changeSlot(
                1, to: UnlockSecret(passphrase: SecretBytes(text: "new")), cost: cost, authorizedBy: first())
        }
        _ = try fixture.ring.removeSlot(1, authorizedBy: fixture.ring.root(of: secret()))
        #expect(try fixture.contents(item) == [1])
        #expect(try fixture.ring.slots().map(\.cost) == [fixture.ring.passphraseCost()])
        // The rotation has wrapped the new user key for it.
        #expect(try opens(secret()))
        #expect(try !opens(UnlockSecret(passphrase: SecretBytes(text: "correct"))))
    }

    @Test("bytes that are not a passphrase and a key file are refused")
    func malformed() throws {
        let good = try secret()
        let bytes = [UInt8](copying: good.bytes.bytes)
        let again = try UnlockSecret(
            kind: .passphraseAndKeyFile, bytes: SecretBytes(copying: bytes.rawSpan))
        #expect(try opens(again))
        let cut = Array(bytes.dropLast(40))
        for wrong in [[], [1], [4, 0, 0, 0], cut, [0, 0, 0, 0] + bytes, [255, 255, 255, 255] + bytes] {
            #expect(throws: KeychainFault.param) {
                _ = try UnlockSecret(
                    kind: .passphraseAndKeyFile, bytes: SecretBytes(copying: wrong.rawSpan)
                ).kind
            }
        }
        for count in [31, (64 << 10) + 1] {
            #expect(throws: KeychainFault.param) { _ = try secret("both", [UInt8](repeating: 1, count: count)).kind }
        }
    }
}
