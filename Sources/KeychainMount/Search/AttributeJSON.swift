import Keychain
import KeychainRPC
import KeychainTree

/// The value of an attribute in the JSON of `show` and `search`: numbers and Booleans as such, everything else as text.
package enum AttributeJSON: Hashable, Sendable {
    case text(String)
    case number(Int64)
    case boolean(Bool)

    /// Creates the value of an extended attribute with the precision of a response to a search: dates have microseconds.
    ///
    /// - Parameter key: nil for an attribute that is none of the keychain's.
    init(extendedAttribute bytes: [UInt8], of key: AttributeKey?) {
        let date = key.flatMap { $0.definition.kind == .date ? Self.withMicroseconds(bytes, $0) : nil }
        self.init(date ?? bytes, of: key)
    }

    /// Creates the value from its bytes in an extended attribute (contract, X2). Bytes that are not text become `0x` and digits.
    init(_ bytes: [UInt8], of key: AttributeKey?) {
        switch key?.definition.kind {
        case .boolean where bytes == [0x30] || bytes == [0x31]: self = .boolean(bytes == [0x31])
        case .number:
            if case .number(let number) = AttributeValue.decimal(.text(bytes)) {
                self = .number(number)
            } else {
                self = Self.text(of: bytes)
            }
        default: self = Self.text(of: bytes)
        }
    }

    /// The text; nil for another value.
    var asText: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    private static func text(of bytes: [UInt8]) -> AttributeJSON {
        .text(String(validating: bytes, as: UTF8.self) ?? Hexadecimal.text(bytes))
    }

    /// Parsing takes 0.1 ms, too long for each item of a search, whose dates have microseconds already.
    private static func withMicroseconds(_ bytes: [UInt8], _ key: AttributeKey) -> [UInt8]? {
        guard let date = AttributeTextCodec.decode(bytes, for: key, current: nil),
            let rounded = PropertyList(date).attributeValue
        else { return nil }
        return AttributeTextCodec.encode(rounded, for: key)
    }
}

extension AttributeJSON: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let flag = try? container.decode(Bool.self) {
            self = .boolean(flag)
        } else if let number = try? container.decode(Int64.self) {
            self = .number(number)
        } else {
            self = .text(try container.decode(String.self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        case .boolean(let flag): try container.encode(flag)
        }
    }
}
