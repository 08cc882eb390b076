import SecretCrypto

/// Writes a JSON object whose values are strings into locked memory, whose size the caller has counted before.
struct SecretJSONEncoder: ~Copyable {
    private var output: SecretBytes
    private var position = 0

    /// The bytes of an object besides its members: a brace in place of the comma before the first one, and the end.
    static let frameCount = 2

    /// - Parameter output: Memory of ``frameCount`` and ``count(name:value:)`` of all members.
    init(_ output: consuming SecretBytes) { self.output = output }

    /// The bytes of a member with the comma or brace before it.
    static func count(name: Span<UInt8>, value: Span<UInt8>) -> Int { 6 + count(name) + count(value) }

    mutating func append(name: Span<UInt8>, value: Span<UInt8>) {
        append(position == 0 ? "{" : ",")
        append(quoting: name)
        append(":")
        append(quoting: value)
    }

    /// Ends the object with a line feed.
    consuming func finish() -> SecretBytes {
        append("}")
        append("\n")
        return output
    }

    private static func count(_ text: Span<UInt8>) -> Int {
        text.indices.reduce(0) { $0 + escapedCount(text[$1]) }
    }

    /// The bytes that represent a byte of a string (RFC 8259, 7).
    private static func escapedCount(_ byte: UInt8) -> Int {
        byte < 0x20 ? 6 : isEscapedByBackslash(byte) ? 2 : 1
    }

    private static func isEscapedByBackslash(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func append(quoting text: Span<UInt8>) {
        append("\"")
        for index in text.indices { append(escaping: text[index]) }
        append("\"")
    }

    private mutating func append(escaping byte: UInt8) {
        if byte < 0x20 {
            for character in "\\u00".unicodeScalars { append(character) }
            append(byte >> 4 == 0 ? "0" : "1")
            let digit = byte & 0xF
            append(byte: digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        } else {
            if Self.isEscapedByBackslash(byte) { append("\\") }
            append(byte: byte)
        }
    }

    private mutating func append(_ character: Unicode.Scalar) { append(byte: UInt8(ascii: character)) }

    private mutating func append(byte: UInt8) {
        output.set(byte, at: position)
        position += 1
    }
}
