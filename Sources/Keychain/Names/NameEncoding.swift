/// The spelling of bytes in a file name: valid UTF-8 unchanged, other bytes as `%XX`.
///
/// Every sequence of bytes has exactly one spelling. Other spellings cannot be decoded.
package enum NameEncoding {
    private static let percent = UInt8(ascii: "%")

    /// Returns the spelling of `bytes`. `reserved` are ASCII characters that are spelled `%XX`, too.
    package static func encode(_ bytes: [UInt8], reserved: [UInt8] = []) -> [UInt8] {
        if bytes.isEmpty { return [percent] }
        if bytes == [UInt8(ascii: ".")] { return Array("%2E".utf8) }
        if bytes == Array("..".utf8) { return Array("%2E%2E".utf8) }
        if bytes.allSatisfy({ $0 < 0x80 && !isEscaped($0, reserved) }) { return bytes }
        var name: [UInt8] = []
        name.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            let length = UTF8Sequence.length(in: bytes, at: index)
            if length == 0 || isEscaped(bytes[index], reserved) {
                appendEscape(of: bytes[index], to: &name)
                index += 1
            } else {
                name.append(contentsOf: bytes[index..<index + length])
                index += length
            }
        }
        return name
    }

    /// Returns the bytes that `name` spells; nil if it is not canonical.
    package static func decode(_ name: [UInt8], reserved: [UInt8] = []) -> [UInt8]? {
        if name == [percent] { return [] }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(name.count)
        var index = 0
        while index < name.count {
            if name[index] == percent {
                guard index + 2 < name.count, let high = hexDigit(name[index + 1]), let low = hexDigit(name[index + 2])
                else { return nil }
                bytes.append(high << 4 | low)
                index += 3
            } else {
                bytes.append(name[index])
                index += 1
            }
        }
        return encode(bytes, reserved: reserved) == name ? bytes : nil
    }

    private static func isEscaped(_ byte: UInt8, _ reserved: [UInt8]) -> Bool {
        byte < 0x20 || byte == 0x7F || byte == percent || byte == UInt8(ascii: "/") || reserved.contains(byte)
    }

    private static func appendEscape(of byte: UInt8, to name: inout [UInt8]) {
        name.append(percent)
        name.append(hex(byte >> 4))
        name.append(hex(byte & 0xF))
    }

    /// An upper-case hexadecimal digit.
    static func hex(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "A") + nibble - 10
    }

    static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// Well-formed UTF-8, one character at a time (Unicode 3.9, table 3-7).
enum UTF8Sequence {
    /// Returns the length in bytes of the character at `index`; 0 if there is no valid one.
    static func length(in bytes: [UInt8], at index: Int) -> Int {
        let first = bytes[index]
        let (length, second): (Int, ClosedRange<UInt8>) =
            switch first {
            case 0x00...0x7F: (1, 0...0)
            case 0xC2...0xDF: (2, 0x80...0xBF)
            case 0xE0: (3, 0xA0...0xBF)
            case 0xED: (3, 0x80...0x9F)
            case 0xE1...0xEF: (3, 0x80...0xBF)
            case 0xF0: (4, 0x90...0xBF)
            case 0xF4: (4, 0x80...0x8F)
            case 0xF1...0xF3: (4, 0x80...0xBF)
            default: (0, 0...0)
            }
        guard length > 0, index + length <= bytes.count else { return 0 }
        guard length == 1 || second.contains(bytes[index + 1]) else { return 0 }
        for next in bytes[index..<index + length].dropFirst(2) where !(0x80...0xBF).contains(next) { return 0 }
        return length
    }
}
