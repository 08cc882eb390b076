/// Bytes that are not text, as users read and type them: `0x` and two digits each.
enum Hexadecimal {
    static func text(_ bytes: [UInt8]) -> String {
        "0x" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Parses bytes; nil for another format.
    static func bytes(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8.dropFirst(2))
        guard text.hasPrefix("0x"), !digits.isEmpty, digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: digits.count, by: 2) {
            guard let high = nibble(digits[start]), let low = nibble(digits[start + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// Parses a digit. Does not accept a sign, unlike `UInt8(_:radix:)`.
    private static func nibble(_ digit: UInt8) -> UInt8? {
        Character(UnicodeScalar(digit)).hexDigitValue.map { UInt8($0) }
    }
}
