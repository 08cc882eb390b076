/// The value of an attribute, of one of the types that Keychain Services stores.
package enum AttributeValue: Hashable, Sendable {
    /// A CFString, as its UTF-8.
    case text([UInt8])
    /// A CFData.
    case data([UInt8])
    /// A CFNumber or CFBoolean.
    case number(Int64)
    /// A CFDate.
    case date(KeychainDate)

    /// The bytes of a text or data; nil for other types.
    ///
    /// Text and data with equal bytes are the same key (Apple compares the SHA-1 of the bytes).
    package var bytes: [UInt8]? {
        switch self {
        case .text(let bytes), .data(let bytes): bytes
        case .number, .date: nil
        }
    }

    /// A text value.
    package static func string(_ text: String) -> AttributeValue { .text(Array(text.utf8)) }

    /// Returns a typed or named blob: text if it is valid UTF-8, otherwise data.
    package static func blob(_ bytes: [UInt8]) -> AttributeValue {
        isValidUTF8(bytes) ? .text(bytes) : .data(bytes)
    }

    /// Returns a number if `value` is text that is exactly a decimal integer; otherwise `value`.
    package static func decimal(_ value: AttributeValue) -> AttributeValue {
        guard case .text(let bytes) = value, let number = Int64(String(decoding: bytes, as: UTF8.self)),
            Array(String(number).utf8) == bytes
        else { return value }
        return .number(number)
    }

    /// Whether `bytes` are well-formed UTF-8 (Unicode 3.9, table 3-7).
    package static func isValidUTF8(_ bytes: [UInt8]) -> Bool {
        bytes.allSatisfy { $0 < 0x80 } || String(validating: bytes, as: UTF8.self) != nil
    }
}
