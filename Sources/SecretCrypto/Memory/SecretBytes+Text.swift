extension SecretBytes {
    /// Whether the bytes are UTF-8 text without control characters other than tab, line feed and carriage return. False
    /// if empty.
    ///
    /// Random bytes are text with negligible probability. Not in constant time.
    package var isPrintableText: Bool {
        guard count > 0, let text = try? UTF8Span(validating: bytes.octets) else { return false }
        var scalars = text.makeUnicodeScalarIterator()
        while let scalar = scalars.next() {
            guard scalar.value >= 0x20 || scalar == "\t" || scalar == "\n" || scalar == "\r" else { return false }
            guard !(0x7F...0x9F).contains(scalar.value) else { return false }
        }
        return true
    }
}
