import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain

@Suite("L5: recovery keys")
struct RecoveryKeyTests {
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")

    private func text(_ key: borrowing RecoveryKey) throws -> String {
        let text = try key.text()
        return String(decoding: [UInt8](copying: text.bytes), as: UTF8.self)
    }

    private func characters(typed text: String) throws -> String {
        let key = try RecoveryKey(typed: SecretBytes(text: text))
        let characters = try key.characters()
        return String(decoding: [UInt8](copying: characters.bytes), as: UTF8.self)
    }

    private func error(typed text: String) -> RecoveryKeyError? {
        do {
            _ = try characters(typed: text)
            return nil
        } catch {
            return error as? RecoveryKeyError
        }
    }

    @Test("six groups of six characters of Crockford's base32, no two alike, and all characters come")
    func form() throws {
        var seen: Set<String> = []
        var used: Set<Character> = []
        for _ in 0..<50 {
            let text = try text(RecoveryKey())
            #expect(text.last == "\n")
            let groups = text.dropLast().split(separator: "-", omittingEmptySubsequences: false)
            #expect(groups.count == 6 && groups.allSatisfy { $0.count == 6 && $0.allSatisfy(Self.alphabet.contains) })
            // The typed text yields the same key, without its check characters.
            #expect(try characters(typed: text) == groups.map { $0.prefix(5) }.joined())
            seen.insert(text)
            used.formUnion(groups.joined())
        }
        #expect(seen.count == 50 && used.count == 32)
    }

    @Test("the check character: powers of the generator, and the number of the group")
    func checkCharacter() throws {
        // "G" is 16 = x⁴ and has the weight x²: x⁶ = x³ + x = 10. "3" is x + 1 and has the weight x: x² + x = 6.
        // Their sum is 12; with the group's number, 6, it is 10: "A".
        #expect(error(typed: "000001-000002-000003-000004-000005-000G3Z") == .mistyped(groups: [6]))
        #expect(try characters(typed: "000001-000002-000003-000004-000005-000G3A") == "0000000000000000000000000000G3")
    }

    @Test("lower case, O, I, L, spaces, line ends, no separators at all: the same key")
    func tolerance() throws {
        let text = "000001-000002-000003-000004-000005-000G3A"
        let key = try characters(typed: text)
        let spellings = [
            text.lowercased(), text.replacing("-", with: ""), text.replacing("-", with: " "), " " + text + " \r\n",
            text.replacing("0", with: "O").replacing("1", with: "l"), text.replacing("1", with: "I"),
            text.replacing("-", with: " - "), text.replacing("-", with: "\n").lowercased().replacing("0", with: "o"),
        ]
        for spelling in spellings { #expect(try characters(typed: spelling) == key, "\(spelling)") }
    }

    @Test("every single mistyped character, and every two swapped ones, are reported with their group")
    func mistyped() throws {
        let text = Array(try text(RecoveryKey()).dropLast())
        for (index, character) in text.enumerated() where character != "-" {
            let group = index / 7 + 1
            for other in Self.alphabet + ["U", "!"] where other != character {
                var wrong = text
                wrong[index] = other
                #expect(error(typed: String(wrong)) == .mistyped(groups: [group]))
            }
            for second in text.indices where second > index && second / 7 + 1 == group && text[second] != character {
                guard text[second] != "-" else { continue }
                var wrong = text
                wrong.swapAt(index, second)
                #expect(error(typed: String(wrong)) == .mistyped(groups: [group]))
            }
        }
    }

    @Test("two swapped groups are both reported")
    func swappedGroups() throws {
        let groups = try text(RecoveryKey()).dropLast().split(separator: "-").map(String.init)
        var wrong = groups
        wrong.swapAt(1, 4)
        #expect(error(typed: wrong.joined(separator: "-")) == .mistyped(groups: [2, 5]))
    }

    @Test("a missing or additional character: the group is reported if dashes separate groups, otherwise the count")
    func lengths() throws {
        let text = try text(RecoveryKey()).dropLast()
        let groups = text.split(separator: "-").map(String.init)
        var short = groups
        short[2].removeLast()
        #expect(error(typed: short.joined(separator: " ")) == .mistyped(groups: [3]))
        #expect(error(typed: short.joined()) == .wrongLength(35))
        var long = groups
        long[5] += "0"
        #expect(error(typed: long.joined(separator: "-")) == .mistyped(groups: [6]))
        #expect(error(typed: long.joined()) == .wrongLength(37))
        #expect(error(typed: groups.dropLast().joined(separator: "-")) == .wrongLength(30))
        #expect(error(typed: "") == .wrongLength(0))
        #expect(error(typed: "-- --") == .wrongLength(0))
        #expect(error(typed: String(repeating: "0", count: 5000)) == .wrongLength(5000))
    }
}

@Suite("L5, S3: roots of recovery keys and key files")
struct SlotRootKeyTests {
    private func root(_ secret: borrowing UnlockSecret, _ store: StoreRecord) throws -> [UInt8] {
        let root = try SlotUnlock.root(of: secret, store: store)
        return [UInt8](copying: root.bytes.bytes)
    }

    private func keyFile(_ bytes: [UInt8]) throws -> UnlockSecret {
        try UnlockSecret(keyFile: SecretBytes(copying: bytes.rawSpan))
    }

    @Test("a key file has 32 bytes to 64 KiB; every byte of it counts")
    func keyFiles() throws {
        let store = try #require(try KeyRingFixture(unlocked: false).store.records.storeRecord)
        for count in [0, 1, 31, 65_537] {
            #expect(throws: KeychainFault.param) { _ = try keyFile([UInt8](repeating: 1, count: count)).kind }
        }
        var seen: Set<[UInt8]> = []
        for count in [32, 33, 65_536] { seen.insert(try root(keyFile([UInt8](repeating: 1, count: count)), store)) }
        for index in [0, 31, 64, 65_535] {
            var bytes = [UInt8](repeating: 1, count: 65_536)
            bytes[index] = 2
            seen.insert(try root(keyFile(bytes), store))
        }
        #expect(seen.count == 7)
    }

    @Test("stores and kinds have separate root keys for the same secret")
    func domains() throws {
        var store = try #require(try KeyRingFixture(unlocked: false).store.records.storeRecord)
        let bytes = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
        let asKey = try UnlockSecret(kind: .recoveryKey, bytes: SecretBytes(copying: bytes.rawSpan))
        let asFile = try keyFile(bytes)
        var roots = [try root(asKey, store), try root(asFile, store)]
        store.identifier = [UInt8](repeating: 9, count: 16)
        roots += [try root(asKey, store), try root(asFile, store)]
        #expect(Set(roots).count == 4 && roots.allSatisfy { $0.count == SlotSecret.rootCount })
    }

    @Test("kinds that this version cannot open are refused")
    func reservedKinds() throws {
        for kind in [SlotKind.tpm2, .fido2, .systemdCredential, .plugin, .later] {
            #expect(throws: KeychainFault.param) {
                _ = try UnlockSecret(kind: kind, bytes: SecretBytes(count: 32)).kind
            }
        }
    }
}
