import Foundation
import SecretCrypto
import Testing

@testable import KeychainCommands

@Suite("Recipes of generated secrets")
struct RecipeTests {
    private func secret(_ recipe: String) throws -> [UInt8] {
        let secret = try #require(Recipe(recipe)).generate()
        return (0..<secret.count).map { secret.bytes.octets[$0] }
    }

    @Test(
        "E2: a recipe that is not one of the forms, or outside its limits, is refused",
        arguments: [
            "", "3", "1025", "0", "-5", "+24", "24+", "24+symbol", "+symbols", "3+symbols", "words:", "words:0",
            "words:65", "words:x",
            "words:6:6", "pin", "pin:3", "pin:65", "pin:-4", "hex", "hex:x", "hex:3", "hex:513", "hex:0x10", "24 ",
            " 24",
            "100000000000000000000", "words:100000000000000000000", "２４", "base64", "Words:6",
        ])
    func refused(text: String) {
        #expect(Recipe(text) == nil)
    }

    @Test(
        "E2: each form gives a secret of its length and characters",
        arguments: [
            ("24", "^[A-Za-z0-9]{24}$"), ("4", "^[A-Za-z0-9]{4}$"), ("1024", "^[A-Za-z0-9]{1024}$"),
            ("16+symbols", "^[A-Za-z0-9!#%&()*+,./:;<=>?@\\[\\]^_{}~-]{16}$"), ("pin:6", "^[0-9]{6}$"),
            ("hex:16", "^[0-9a-f]{32}$"),
            ("words", "^[a-z-]{23,59}$"), ("words:1", "^[a-z-]{3,9}$"), ("words:64", "^[a-z-]{255,639}$"),
        ])
    func forms(recipe: String, pattern: String) throws {
        for _ in 0..<20 {
            let text = String(decoding: try secret(recipe), as: UTF8.self)
            #expect(text.range(of: pattern, options: .regularExpression) != nil)
        }
    }

    @Test("E2: with symbols, every secret has a character of each kind, also the shortest", arguments: [4, 5, 24])
    func kinds(length: Int) throws {
        for _ in 0..<200 {
            let text = String(decoding: try secret("\(length)+symbols"), as: UTF8.self)
            let hasLetters = text.contains(where: \.isUppercase) && text.contains(where: \.isLowercase)
            let hasOthers = text.contains(where: \.isNumber) && text.contains { !$0.isLetter && !$0.isNumber }
            #expect(hasLetters && hasOthers)
        }
    }

    /// The value of χ² that 1 of 10⁷ uniform samples exceeds (Wilson and Hilferty).
    private func limit(_ degrees: Int) -> Double {
        let k = Double(degrees)
        return k * pow(1 - 2 / (9 * k) + 5.2 * (2 / (9 * k)).squareRoot(), 3)
    }

    @Test(
        "E2: 100,000 characters are uniformly distributed", arguments: [("1000", 62), ("pin:64", 10), ("hex:512", 16)])
    func uniform(recipe: String, characters: Int) throws {
        var counts: [UInt8: Int] = [:]
        var total = 0
        while total < 100_000 {
            for byte in try secret(recipe) {
                counts[byte, default: 0] += 1
                total += 1
            }
        }
        let expected = Double(total) / Double(characters)
        let square = counts.values.reduce(0) { $0 + pow(Double($1) - expected, 2) / expected }
        #expect(counts.count == characters && square < limit(characters - 1))
    }

    @Test("E2: the first and the last character with symbols are uniformly distributed among texts with all kinds")
    func uniformWithSymbols() throws {
        // The share of a kind at one position of texts of 4 that have all kinds: each kind once, so 1/4.
        var capitals = 0
        let rounds = 4000
        for _ in 0..<rounds where (0x41...0x5A).contains(try secret("4+symbols")[0]) { capitals += 1 }
        let deviation = abs(Double(capitals) - Double(rounds) / 4) / (Double(rounds) * 3 / 16).squareRoot()
        #expect(deviation < 5.5)
    }

    @Test("E2: 20,000 words are uniformly distributed over the complete list")
    func uniformWords() throws {
        var counts: [ArraySlice<UInt8>: Int] = [:]
        let list = Set((0..<WordList.count).map { Array(WordList.word($0)) })
        #expect(list.count == 7776 && WordList.longest == 9)
        var total = 0
        for _ in 0..<20_000 {
            let word = try secret("words:1")
            #expect(list.contains(word))
            counts[word[...], default: 0] += 1
            total += 1
        }
        let expected = Double(total) / 7776
        let present = counts.values.reduce(0) { $0 + pow(Double($1) - expected, 2) / expected }
        let square = present + Double(7776 - counts.count) * expected
        #expect(square < limit(7775))
    }

    @Test("E2: the word list is the one of the Electronic Frontier Foundation, byte by byte")
    func wordList() {
        let text = (0..<WordList.count).flatMap { Array(WordList.word($0)) + [UInt8(ascii: "\n")] }
        let digest = BLAKE2b.hash(text, count: 32).map { String(format: "%02x", $0) }.joined()
        #expect(digest == "323606b363ebdedff9f562cb84c50df1a21cbd4b597ff4566df92bb9f2cefdfd")
    }

    @Test(
        "E2: the entropy is the logarithm of the number of secrets",
        arguments: [
            ("24", 142.9), ("hex:16", 128), ("pin:6", 19.9), ("words:6", 77.5), ("words:1", 12.9),
            // 4! × 26 × 26 × 10 × 26 texts.
            ("4+symbols", 22.0), ("24+symbols", 154.9),
        ])
    func entropy(recipe: String, bits: Double) throws {
        #expect(abs(try #require(Recipe(recipe)).bits - bits) < 0.1)
    }
}
