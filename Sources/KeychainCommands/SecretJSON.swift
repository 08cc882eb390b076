package import SecretCrypto

/// A JSON object whose values are strings, with a secret (RFC 8259). Foundation would copy the secret into memory that is not locked.
package struct SecretJSON: ~Copyable, Sendable {
    private let text: SecretBytes
    private let values: [String: Range<Int>]

    /// Decodes an object in its own memory, because no value becomes longer.
    ///
    /// - Returns: Nil if the text is not such an object, is not UTF-8, or contains a name twice or NUL.
    package init?(_ input: consuming SecretBytes) {
        guard (try? UTF8Span(validating: input.bytes.octets)) != nil else { return nil }
        var decoder = SecretJSONDecoder(input)
        guard let values = decoder.object() else { return nil }
        self.values = values
        text = decoder.finish()
    }

    /// Returns a value that is not secret.
    func string(_ name: String) -> String? {
        guard let range = values[name] else { return nil }
        let octets = text.bytes.octets
        return String(validating: range.map { octets[$0] }, as: UTF8.self)
    }

    /// Returns a secret value in locked memory.
    func secret(_ name: String) throws(CryptoError) -> SecretBytes? {
        guard let range = values[name] else { return nil }
        return try text.slice(range)
    }

    /// Returns an object with a line feed at its end; nil if the secret is not UTF-8.
    ///
    /// - Parameter strings: The values that are not secret, before the secret.
    static func encode(
        _ strings: [(name: String, value: String)], secret: borrowing SecretBytes, named name: String
    ) throws(CryptoError) -> SecretBytes? {
        guard (try? UTF8Span(validating: secret.bytes.octets)) != nil else { return nil }
        let texts = strings.map { (Array($0.name.utf8), Array($0.value.utf8)) }
        let name = Array(name.utf8)
        let members = texts.reduce(0) {
            $0 + SecretJSONEncoder.count(name: $1.0.span, value: $1.1.span)
        }
        let count = members + SecretJSONEncoder.count(name: name.span, value: secret.bytes.octets)
        var encoder = SecretJSONEncoder(try SecretBytes(count: count + SecretJSONEncoder.frameCount))
        for (name, value) in texts { encoder.append(name: name.span, value: value.span) }
        encoder.append(name: name.span, value: secret.bytes.octets)
        return encoder.finish()
    }
}
