import SecretCrypto

/// Decodes the strings of a JSON object in locked memory: each is written over the text that has already been read.
struct SecretJSONDecoder: ~Copyable {
    private var text: SecretBytes
    /// The next byte to read.
    private var position = 0
    /// The end of the decoded strings, never after `position`.
    private var end = 0

    init(_ text: consuming SecretBytes) { self.text = text }

    /// Returns the text after ``object()``, which contains the decoded strings.
    consuming func finish() -> SecretBytes { text }

    /// Returns the positions of the decoded values by name; nil for other JSON, a name that occurs twice, or NUL.
    mutating func object() -> [String: Range<Int>]? {
        guard next(is: "{") else { return nil }
        var values: [String: Range<Int>] = [:]
        if !next(is: "}") {
            repeat {
                guard let name = string(), next(is: ":"), let value = string() else { return nil }
                let octets = text.bytes.octets
                let key = String(decoding: name.map { octets[$0] }, as: UTF8.self)
                guard values.updateValue(value, forKey: key) == nil else { return nil }
            } while next(is: ",")
            guard next(is: "}") else { return nil }
        }
        skipSpace()
        return position == text.count ? values : nil
    }

    private var byte: UInt8? { position < text.count ? text.bytes.octets[position] : nil }

    private mutating func skipSpace() {
        while let byte, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
    }

    /// Reads a character of the structure, after spaces.
    private mutating func next(is character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard byte == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    /// Returns where the decoded string is.
    private mutating func string() -> Range<Int>? {
        guard next(is: "\"") else { return nil }
        let start = end
        while let byte, byte >= 0x20 {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return start..<end
            case UInt8(ascii: "\\"): guard escape() else { return nil }
            default: append(byte)
            }
        }
        return nil
    }

    private mutating func append(_ byte: UInt8) {
        text.set(byte, at: end)
        end += 1
    }

    /// Decodes what follows a backslash.
    private mutating func escape() -> Bool {
        guard let character = byte else { return false }
        position += 1
        switch character {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): append(character)
        case UInt8(ascii: "b"): append(0x08)
        case UInt8(ascii: "f"): append(0x0C)
        case UInt8(ascii: "n"): append(0x0A)
        case UInt8(ascii: "r"): append(0x0D)
        case UInt8(ascii: "t"): append(0x09)
        case UInt8(ascii: "u"):
            guard let scalar = scalar(), scalar != "\0" else { return false }
            for byte in scalar.utf8 { append(byte) }
        default: return false
        }
        return true
    }

    /// Reads a code unit of UTF-16, or a pair of surrogates.
    private mutating func scalar() -> Unicode.Scalar? {
        guard let first = codeUnit() else { return nil }
        guard UTF16.isLeadSurrogate(first) else { return Unicode.Scalar(first) }
        guard byte == UInt8(ascii: "\\") else { return nil }
        position += 1
        guard byte == UInt8(ascii: "u") else { return nil }
        position += 1
        guard let second = codeUnit(), UTF16.isTrailSurrogate(second) else { return nil }
        return Unicode.Scalar(0x10000 + UInt32(first & 0x3FF) << 10 + UInt32(second & 0x3FF))
    }

    /// Reads four hexadecimal digits.
    private mutating func codeUnit() -> UInt16? {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }
}
