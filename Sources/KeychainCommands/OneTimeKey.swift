package import SecretCrypto

/// A key for the one-time codes of RFC 6238, and their parameters (contract, E5).
package struct OneTimeKey: ~Copyable, Sendable {
    /// The reason why contents have no usable key.
    package enum ParseError: Error, Hashable, Sendable {
        /// No line begins with `otpauth://totp/`, and the contents are not a Base32 key.
        case noKey
        /// The codes depend on a counter (`otpauth://hotp/`), which would have to be stored.
        case counter
        /// A parameter of this name has a value that is not supported, or occurs twice.
        case parameter(String)
        /// The locked memory is exhausted.
        case memory
    }

    private let key: SecretBytes
    private let parameters: KeyLink

    /// Finds the key in the contents of an item: in the first line that begins with `otpauth://totp/`, or else all of them.
    package static func find(in contents: borrowing SecretBytes) throws(ParseError) -> OneTimeKey {
        let octets = contents.bytes.octets
        var hasCounter = false
        var start = 0
        while start < octets.count {
            var end = start
            while end < octets.count, octets[end] != UInt8(ascii: "\n") { end += 1 }
            if KeyLink.begins(octets, start..<end, with: "otpauth://totp/") {
                let link = try KeyLink(octets, start..<end)
                return OneTimeKey(key: try key(octets, link.secret, 1...1024, isQuery: true), parameters: link)
            }
            hasCounter = hasCounter || KeyLink.begins(octets, start..<end, with: "otpauth://hotp/")
            start = end + 1
        }
        guard !hasCounter else { throw .counter }
        return OneTimeKey(
            key: try key(octets, 0..<octets.count, 16...128, isQuery: false), parameters: KeyLink())
    }

    private static func key(
        _ octets: Span<UInt8>, _ range: Range<Int>, _ lengths: ClosedRange<Int>, isQuery: Bool
    ) throws(ParseError) -> SecretBytes {
        do throws(CryptoError) {
            guard let key = try Base32.decode(octets, range, lengths: lengths, isQuery: isQuery) else {
                throw CryptoError.invalidParameter
            }
            return key
        } catch {
            throw error == .invalidParameter ? .noKey : .memory
        }
    }

    /// Returns the code at a time since the epoch in seconds, as decimal digits with a line feed.
    ///
    /// - Throws: `invalidParameter` for a time before the epoch.
    package func code(at seconds: Int64) throws(CryptoError) -> SecretBytes {
        guard seconds >= 0 else { throw .invalidParameter }
        let counter = UInt64(seconds / parameters.period)
        let message = (0..<8).map { UInt8(truncatingIfNeeded: counter >> UInt64(56 - 8 * $0)) }
        let digest = try HMAC.code(of: message, key: key, hash: parameters.hash)
        let octets = digest.bytes.octets
        // Dynamic truncation (RFC 4226, 5.3).
        let offset = Int(octets[octets.count - 1] & 0xF)
        var number = (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(octets[offset + $1]) } & 0x7FFF_FFFF
        var text = try SecretBytes(count: parameters.digits + 1)
        text.set(UInt8(ascii: "\n"), at: parameters.digits)
        for index in (0..<parameters.digits).reversed() {
            text.set(UInt8(ascii: "0") + UInt8(number % 10), at: index)
            number /= 10
        }
        return text
    }

    /// Returns how many seconds the code of a time stays valid.
    package func secondsLeft(at seconds: Int64) -> Int64 { parameters.period - seconds % parameters.period }
}
