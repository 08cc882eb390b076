import Glibc
package import KeychainMount
package import SecretCrypto

/// A recipe of a generated secret (contract, E2). Each secret that a recipe can give is equally probable.
package enum Recipe: Hashable, Sendable {
    /// Letters and digits; with symbols, at least one character of each kind.
    case characters(Int, withSymbols: Bool)
    case words(Int)
    case digits(Int)
    /// This number of bytes, in hexadecimal.
    case hexadecimal(Int)

    package static let standard = Recipe.characters(24, withSymbols: false)
    /// The forms, for messages and help.
    package static let forms =
        "LENGTH (4 to 1024), LENGTH+symbols, words:N (1 to 64), pin:N (4 to 64) or hex:N (bytes, 4 to 512)"

    /// Parses a recipe; nil if it is invalid.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        switch (parts[0], parts.count) {
        case ("words", 1): self = .words(6)
        case ("words", 2):
            guard let count = Self.number(parts[1], in: 1...64) else { return nil }
            self = .words(count)
        case ("pin", 2):
            guard let count = Self.number(parts[1], in: 4...64) else { return nil }
            self = .digits(count)
        case ("hex", 2):
            guard let count = Self.number(parts[1], in: 4...512) else { return nil }
            self = .hexadecimal(count)
        case (let length, 1):
            let withSymbols = length.hasSuffix("+symbols")
            let digits = withSymbols ? length.dropLast("+symbols".count) : length
            guard let count = Self.number(digits, in: 4...1024) else { return nil }
            self = .characters(count, withSymbols: withSymbols)
        default: return nil
        }
    }

    /// Parses a decimal number without a sign.
    private static func number(_ text: Substring, in range: ClosedRange<Int>) -> Int? {
        guard text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains), let number = Int(text),
            range.contains(number)
        else { return nil }
        return number
    }

    /// The entropy in bits: the binary logarithm of the number of secrets that the recipe can give.
    package var bits: Double {
        switch self {
        case .characters(let count, false): Double(count) * log2(Double(Alphabet.lettersAndDigits.count))
        case .characters(let count, true):
            Double(count) * log2(Double(Alphabet.all.count)) + log2(Alphabet.shareWithAllKinds(count))
        case .words(let count): Double(count) * log2(Double(WordList.count))
        case .digits(let count): Double(count) * log2(10)
        case .hexadecimal(let count): Double(count) * 8
        }
    }

    /// Generates a secret.
    func generate() throws(CryptoError) -> SecretBytes {
        switch self {
        case .characters(let count, false): try Self.random(Alphabet.lettersAndDigits, count)
        case .characters(let count, true): try Self.randomWithAllKinds(count)
        case .words(let count): try Self.randomWords(count)
        case .digits(let count): try Self.random(Alphabet.digits, count)
        case .hexadecimal(let count): try Self.random(Alphabet.hexadecimal, 2 * count)
        }
    }

    /// Generates a secret for a command.
    ///
    /// - Parameter endsLine: Whether a line feed follows.
    /// - Throws: `failure` if the locked memory is exhausted.
    package func secret(endsLine: Bool = false) throws(CLIError) -> SecretBytes {
        do throws(CryptoError) {
            let secret = try generate()
            return endsLine ? try Self.line(secret) : secret
        } catch {
            throw CLIError(error, reading: "The generated secret")
        }
    }

    private static func line(_ secret: borrowing SecretBytes) throws(CryptoError) -> SecretBytes {
        var line = try SecretBytes(count: secret.count + 1)
        line.copy(secret.bytes, at: 0)
        _ = append([UInt8(ascii: "\n")], to: &line, at: secret.count)
        return line
    }

    private static func random(_ alphabet: [UInt8], _ count: Int) throws(CryptoError) -> SecretBytes {
        var secret = try SecretBytes(count: count)
        for index in 0..<count { secret.set(alphabet[SecureRandom.number(below: alphabet.count)], at: index) }
        return secret
    }

    /// Draws again until each kind occurs, which changes no probability among those that remain.
    private static func randomWithAllKinds(_ count: Int) throws(CryptoError) -> SecretBytes {
        while true {
            let secret = try random(Alphabet.all, count)
            let hasAllKinds = Alphabet.kinds.allSatisfy { kind in
                (0..<count).contains { kind.contains(secret.bytes.octets[$0]) }
            }
            if hasAllKinds { return secret }
        }
    }

    private static func randomWords(_ count: Int) throws(CryptoError) -> SecretBytes {
        var secret = try SecretBytes(count: count * (WordList.longest + 1))
        var end = 0
        for index in 0..<count {
            if index > 0 { end = append([UInt8(ascii: "-")], to: &secret, at: end) }
            end = append(WordList.word(SecureRandom.number(below: WordList.count)), to: &secret, at: end)
        }
        secret.truncate(to: end)
        return secret
    }

    /// Returns the end of the bytes.
    private static func append(_ bytes: ArraySlice<UInt8>, to secret: inout SecretBytes, at end: Int) -> Int {
        for (offset, byte) in bytes.enumerated() { secret.set(byte, at: end + offset) }
        return end + bytes.count
    }
}

/// The characters of generated secrets: ASCII without blanks, quotes, `$`, `|` and backslash.
private enum Alphabet {
    static let capitals = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
    static let small = Array("abcdefghijklmnopqrstuvwxyz".utf8)
    static let digits = Array("0123456789".utf8)
    static let symbols = Array("!#%&()*+,-./:;<=>?@[]^_{}~".utf8)
    static let hexadecimal = Array("0123456789abcdef".utf8)
    static let kinds = [capitals, small, digits, symbols]
    static let lettersAndDigits = capitals + small + digits
    static let all = lettersAndDigits + symbols

    /// Returns the share of all texts of a length that contain each kind (inclusion and exclusion).
    static func shareWithAllKinds(_ length: Int) -> Double {
        (0..<1 << kinds.count).reduce(0) { sum, missing in
            let left = kinds.indices.reduce(all.count) { $0 - (missing >> $1 & 1) * kinds[$1].count }
            let share = pow(Double(left) / Double(all.count), Double(length))
            return sum + (missing.nonzeroBitCount.isMultiple(of: 2) ? share : -share)
        }
    }
}
