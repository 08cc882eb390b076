package import SecretCrypto

/// The reason why typed text is not a recovery key.
package enum RecoveryKeyError: Error, Equatable, Sendable {
    /// These groups, counted from 1, do not match their check character.
    case mistyped(groups: [Int])
    /// The number of characters differs from 36.
    case wrongLength(Int)
    /// No locked memory.
    case crypto(CryptoError)
}

/// A recovery key of 150 random bits, written as six groups of five characters and a check character (contract, L5).
///
/// Crockford's base32 (no I, L, O, U). A check character is the sum, in the field of 32 elements, of its group's
/// characters, each multiplied by another power of the generator, and of the group's number. It detects every single
/// mistyped character, every exchange of two characters, and every exchanged group.
package struct RecoveryKey: ~Copyable, Sendable {
    package static let groupCount = 6
    /// The number of characters of a group, including the check character.
    package static let groupSize = 6
    private static let characterCount = groupCount * groupSize
    private static let dataCount = groupCount * (groupSize - 1)

    /// The 36 characters as numbers below 32.
    private let digits: SecretBytes

    /// Generates a key with the kernel's generator.
    package init() throws(CryptoError) {
        let random = try SecretBytes(randomCount: Self.dataCount)
        var digits = try SecretBytes(count: Self.characterCount)
        var output = digits.mutableBytes
        for group in 0..<Self.groupCount {
            var check = CheckDigit(group: group)
            for character in 0..<Self.groupSize - 1 {
                let digit = random.bytes.octets[group * (Self.groupSize - 1) + character] & 31
                check.add(digit)
                output.store(digit, at: group * Self.groupSize + character)
            }
            output.store(check.value, at: group * Self.groupSize + Self.groupSize - 1)
        }
        self.digits = digits
    }

    /// Parses typed text: in upper or lower case, with O for 0, I and L for 1, and with any spaces, line ends and
    /// dashes.
    package init(typed text: borrowing SecretBytes) throws(RecoveryKeyError) {
        var digits: SecretBytes
        do throws(CryptoError) { digits = try SecretBytes(count: Self.characterCount) } catch { throw .crypto(error) }
        var output = digits.mutableBytes
        var lengths = [0]
        var count = 0
        for offset in 0..<text.count {
            let byte = text.bytes.octets[offset]
            if Crockford.isSeparator(byte) {
                if lengths.last != 0 { lengths.append(0) }
            } else {
                output.store(Crockford.digit(of: byte), at: count)
                count += 1
                lengths[lengths.count - 1] += 1
            }
        }
        if lengths.last == 0 { lengths.removeLast() }
        let wrong = try Self.mistyped(digits, count: count, lengths: lengths)
        guard wrong.isEmpty else { throw .mistyped(groups: wrong) }
        self.digits = digits
    }

    /// Returns the numbers of the wrong groups.
    ///
    /// - Parameter lengths: The lengths of the groups as they were separated.
    private static func mistyped(
        _ digits: borrowing SecretBytes, count: Int, lengths: [Int]
    ) throws(RecoveryKeyError) -> [Int] {
        guard count == characterCount else {
            guard lengths.count == groupCount else { throw .wrongLength(count) }
            return lengths.indices.filter { lengths[$0] != groupSize }.map { $0 + 1 }
        }
        var wrong: [Int] = []
        for group in 0..<groupCount where !isRight(digits, group: group) { wrong.append(group + 1) }
        return wrong
    }

    private static func isRight(_ digits: borrowing SecretBytes, group: Int) -> Bool {
        var check = CheckDigit(group: group)
        var highest: UInt8 = 0
        for character in 0..<groupSize {
            let digit = digits.bytes.octets[group * groupSize + character]
            highest = max(highest, digit)
            if character < groupSize - 1 { check.add(digit) }
        }
        return highest < 32 && check.value == digits.bytes.octets[group * groupSize + groupSize - 1]
    }

    /// Returns the text, to be shown once: groups separated by dashes, and a newline.
    package func text() throws(CryptoError) -> SecretBytes {
        var text = try SecretBytes(count: Self.characterCount + Self.groupCount)
        var output = text.mutableBytes
        for group in 0..<Self.groupCount {
            let start = group * (Self.groupSize + 1)
            for character in 0..<Self.groupSize {
                let digit = digits.bytes.octets[group * Self.groupSize + character]
                output.store(Crockford.character(of: digit), at: start + character)
            }
            let isLast = group == Self.groupCount - 1
            output.store(isLast ? UInt8(ascii: "\n") : UInt8(ascii: "-"), at: start + Self.groupSize)
        }
        return text
    }

    /// Returns the input of key derivation: the thirty characters that are not check characters, in upper case.
    func characters() throws(CryptoError) -> SecretBytes {
        var characters = try SecretBytes(count: Self.dataCount)
        var output = characters.mutableBytes
        for index in 0..<Self.dataCount {
            let (group, character) = index.quotientAndRemainder(dividingBy: Self.groupSize - 1)
            let digit = digits.bytes.octets[group * Self.groupSize + character]
            output.store(Crockford.character(of: digit), at: index)
        }
        return characters
    }
}

/// The check character of a group, computed digit by digit: d₀x⁵ + d₁x⁴ + … + d₄x + group in GF(2)[x] / (x⁵ + x² + 1).
private struct CheckDigit {
    private var sum: UInt8 = 0
    private let number: UInt8

    /// - Parameter group: The index of the group from 0. Its number counts from 1.
    init(group: Int) { number = UInt8(truncatingIfNeeded: group + 1) }

    mutating func add(_ digit: UInt8) {
        let shifted = (sum ^ (digit & 31)) << 1
        sum = shifted & 32 == 0 ? shifted : shifted ^ 0b100101
    }

    var value: UInt8 { sum ^ number }
}

/// Crockford's base32, one character at a time.
private enum Crockford {
    /// The digit of an invalid character.
    private static let none: UInt8 = 0xFF
    private static let letters = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    static func character(of digit: UInt8) -> UInt8 { letters[Int(digit & 31)] }

    /// Returns the digit of a character, 0 to 31; a larger number for an invalid one.
    static func digit(of typed: UInt8) -> UInt8 {
        let isLower = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(typed)
        let upper = isLower ? typed - 32 : typed
        switch upper {
        case UInt8(ascii: "O"): return 0
        case UInt8(ascii: "I"), UInt8(ascii: "L"): return 1
        default: return letters.firstIndex(of: upper).map { UInt8(truncatingIfNeeded: $0) } ?? none
        }
    }

    static func isSeparator(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "-") || byte == UInt8(ascii: " ") || (9...13).contains(byte)
    }
}

extension MutableRawSpan {
    /// Stores a byte; has no effect beyond the end.
    fileprivate mutating func store(_ byte: UInt8, at offset: Int) {
        guard offset < byteCount else { return }
        storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
    }
}
