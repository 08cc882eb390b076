import SecretCrypto

/// The parameters of a link `otpauth://totp/LABEL?secret=…` ("Key URI Format" of Google Authenticator).
struct KeyLink: Sendable {
    /// The range of the Base32 key.
    private(set) var secret = 0..<0
    private(set) var hash = HMAC.Hash.sha1
    private(set) var digits = 6
    /// The lifetime of a code in seconds.
    private(set) var period: Int64 = 30

    /// The parameters that matter. No other part of the contents becomes text.
    private static let names = ["secret", "algorithm", "digits", "period", "encoder"]
    /// The longest value of a parameter other than the key, in bytes.
    private static let longestValue = 16

    /// The parameters of a key without a link.
    init() {}

    /// Parses the link in a range.
    init(_ octets: Span<UInt8>, _ range: Range<Int>) throws(OneTimeKey.ParseError) {
        var seen: Set<String> = []
        var start = Self.end(of: range.lowerBound..<range.upperBound, in: octets, at: ["?", "#"]) + 1
        while start < range.upperBound {
            let end = Self.end(of: start..<range.upperBound, in: octets, at: ["&", "#"])
            let sign = Self.end(of: start..<end, in: octets, at: ["="])
            if sign < end, let name = Self.names.first(where: { Self.isEqual(octets, start..<sign, to: $0) }) {
                guard seen.insert(name).inserted else { throw .parameter(name) }
                try set(name, octets, sign + 1..<end)
            }
            guard end < range.upperBound, octets[end] == UInt8(ascii: "&") else { break }
            start = end + 1
        }
        guard !secret.isEmpty else { throw .noKey }
    }

    /// Whether a range begins with an ASCII text, in any case.
    static func begins(_ octets: Span<UInt8>, _ range: Range<Int>, with text: String) -> Bool {
        let text = Array(text.utf8)
        guard range.count >= text.count else { return false }
        return text.indices.allSatisfy { index in
            let byte = octets[range.lowerBound + index]
            return ((0x41...0x5A).contains(byte) ? byte | 0x20 : byte) == text[index]
        }
    }

    private static func isEqual(_ octets: Span<UInt8>, _ range: Range<Int>, to text: String) -> Bool {
        let text = Array(text.utf8)
        return range.count == text.count && text.indices.allSatisfy { octets[range.lowerBound + $0] == text[$0] }
    }

    private mutating func set(
        _ name: String, _ octets: Span<UInt8>, _ range: Range<Int>
    ) throws(OneTimeKey.ParseError) {
        if name == "secret" {
            secret = range
            return
        }
        guard let value = Self.text(octets, range), set(name, value) else { throw .parameter(name) }
    }

    /// Returns false if the value is not supported.
    private mutating func set(_ name: String, _ value: String) -> Bool {
        switch name {
        case "algorithm":
            guard let hash = HMAC.Hash(rawValue: value.uppercased()) else { return false }
            self.hash = hash
        case "digits":
            guard let digits = Int(value), (6...8).contains(digits) else { return false }
            self.digits = digits
        case "period":
            guard let period = Int64(value), (1...300).contains(period) else { return false }
            self.period = period
        // Another form of the code, such as Steam's.
        default: return false
        }
        return true
    }

    /// Returns the text of a range with its escapes decoded; nil if it is long or invalid.
    private static func text(_ octets: Span<UInt8>, _ range: Range<Int>) -> String? {
        var bytes: [UInt8] = []
        var index = range.lowerBound
        while index < range.upperBound {
            guard let byte = QueryByte.next(octets, &index, range.upperBound), bytes.count < longestValue else {
                return nil
            }
            bytes.append(byte)
        }
        // A link in a file with lines of DOS ends in CR.
        if bytes.last == 0x0D { bytes.removeLast() }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Returns the index of the first of some characters; the end of the range if it has none.
    private static func end(of range: Range<Int>, in octets: Span<UInt8>, at characters: [Character]) -> Int {
        var index = range.lowerBound
        while index < range.upperBound, !characters.contains(where: { $0.asciiValue == octets[index] }) { index += 1 }
        return index
    }
}
