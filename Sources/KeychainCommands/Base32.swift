import SecretCrypto

/// Base32 (RFC 4648) as users type it: with blanks, small letters, and padding that is missing.
enum Base32 {
    /// Decodes a range into locked memory. Bits that are left at the end are dropped, as other programs do.
    ///
    /// - Parameter isQuery: Whether `%XX` and `+` are decoded as in the query of a URI.
    /// - Returns: nil if it is not Base32, or has fewer or more characters than `lengths`.
    static func decode(
        _ octets: Span<UInt8>, _ range: Range<Int>, lengths: ClosedRange<Int>, isQuery: Bool
    ) throws(CryptoError) -> SecretBytes? {
        var output = try SecretBytes(count: lengths.upperBound)
        var (symbols, bits, kept, end) = (0, 0, UInt32(0), 0)
        var hasEnded = false
        var index = range.lowerBound
        while index < range.upperBound {
            let byte = isQuery ? QueryByte.next(octets, &index, range.upperBound) : next(octets, &index)
            guard let byte else { return nil }
            if isBlank(byte) { continue }
            if byte == UInt8(ascii: "=") {
                hasEnded = true
                continue
            }
            guard !hasEnded, let value = value(byte), symbols < lengths.upperBound else { return nil }
            symbols += 1
            kept = kept << 5 | UInt32(value)
            bits += 5
            if bits >= 8 {
                bits -= 8
                output.set(UInt8(truncatingIfNeeded: kept >> UInt32(bits)), at: end)
                end += 1
            }
        }
        guard symbols >= lengths.lowerBound, end > 0 else { return nil }
        output.truncate(to: end)
        return output
    }

    private static func next(_ octets: Span<UInt8>, _ index: inout Int) -> UInt8? {
        defer { index += 1 }
        return octets[index]
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private static func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a")
        case UInt8(ascii: "2")...UInt8(ascii: "7"): byte - UInt8(ascii: "2") + 26
        default: nil
        }
    }
}

/// The bytes of a query of a URI (RFC 3986): `%XX`, and `+` for a blank.
enum QueryByte {
    /// Returns the byte at `index`, which moves behind it; nil for an invalid escape.
    static func next(_ octets: Span<UInt8>, _ index: inout Int, _ end: Int) -> UInt8? {
        let byte = octets[index]
        index += 1
        if byte == UInt8(ascii: "+") { return UInt8(ascii: " ") }
        guard byte == UInt8(ascii: "%") else { return byte }
        guard index + 1 < end, let high = digit(octets[index]), let low = digit(octets[index + 1]) else { return nil }
        index += 2
        return high << 4 | low
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
