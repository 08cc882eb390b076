import KeychainTesting
import SecretCrypto
import Testing

@testable import KeychainMount

@Suite("passphrases that can be guessed")
struct PassphraseWeaknessTests {
    private func weakness(_ text: String) throws -> PassphraseWeakness? {
        PassphraseWeakness(of: try SecretBytes(text: text))
    }

    @Test("a short one, by characters and not by bytes")
    func short() throws {
        #expect(try weakness("a") == .short)
        #expect(try weakness("äöüßäöü") == .short)
        #expect(try weakness("1234567") == .short)
        #expect(try weakness("12345678") == nil)
        #expect(try weakness("äöüßäöüß") == nil)
    }

    @Test("one character, repeated")
    func repeated() throws {
        #expect(try weakness(String(repeating: "a", count: 30)) == .oneCharacter)
        #expect(try weakness(String(repeating: "a", count: 29) + "b") == nil)
    }
}
