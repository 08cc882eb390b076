package import Keychain

/// The encoding of attribute values as bytes of extended attributes (X2).
///
/// Strings are UTF-8, numbers decimal, booleans `0` and `1`, dates RFC 3339, enumerations the constant's suffix, data
/// unchanged. Decoding also accepts the constant's full name and its four-character code.
package enum AttributeTextCodec {
    package static func encode(_ value: AttributeValue, for key: AttributeKey) -> [UInt8] {
        switch (key.definition.kind, value) {
        case (.internetProtocol, .text(let code)): suffix(of: code, in: InternetProtocol.table) ?? code
        case (.authenticationType, .text(let code)): suffix(of: code, in: AuthenticationType.table) ?? code
        case (_, .text(let bytes)), (_, .data(let bytes)): bytes
        case (_, .number(let number)): Array(String(number).utf8)
        case (_, .date(let date)): Array(DateText.encode(date).utf8)
        }
    }

    /// Decodes a value; nil if the attribute cannot have it. `current` is the present value.
    package static func decode(_ bytes: [UInt8], for key: AttributeKey, current: AttributeValue?) -> AttributeValue? {
        let definition = key.definition
        switch definition.kind {
        case .data: return .data(bytes)
        case .blob:
            if case .data = current { return .data(bytes) }
            return .blob(bytes)
        case .number: return number(bytes, isCode: key == .creator || key == .type)
        case .boolean: return bytes == [0x30] ? .number(0) : bytes == [0x31] ? .number(1) : nil
        case .string, .date, .protection, .internetProtocol, .authenticationType:
            guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
            return decode(text, definition)
        }
    }

    /// Returns the protection class that a text names, possibly as the equivalent file protection (L3).
    static func protection(_ text: String) -> ProtectionClass? {
        let suffix = text.dropPrefix(AttributeKey.accessible.definition.name)
        let fileProtection = text.dropPrefix("NSFileProtection")
        return ProtectionClass.allCases.first {
            $0.suffix == suffix || $0.code == text || $0.fileProtectionSuffix == fileProtection
        }
    }

    private static func decode(_ text: String, _ definition: AttributeDefinition) -> AttributeValue? {
        switch definition.kind {
        case .date: DateText.decode(text).map { .date($0) }
        case .protection: protection(text).map { .string($0.code) }
        case .internetProtocol: .decimal(.text(code(of: text, definition.name, in: InternetProtocol.table)))
        case .authenticationType: .text(code(of: text, definition.name, in: AuthenticationType.table))
        default: .string(text)
        }
    }

    /// Parses a decimal number or, if `isCode`, four printable ASCII characters.
    private static func number(_ bytes: [UInt8], isCode: Bool) -> AttributeValue? {
        if case .number(let number) = AttributeValue.decimal(.text(bytes)) { return .number(number) }
        guard isCode, bytes.count == 4, bytes.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
        return .number(bytes.reduce(0) { $0 << 8 | Int64($1) })
    }

    private static func suffix(of code: [UInt8], in table: [(suffix: String, code: String)]) -> [UInt8]? {
        table.first { Array($0.code.utf8) == code }.map { Array($0.suffix.utf8) }
    }

    private static func code(of text: String, _ name: String, in table: [(suffix: String, code: String)]) -> [UInt8] {
        let suffix = text.dropPrefix(name)
        // Compared by bytes, because different texts can be equal (a Kelvin sign and K).
        return Array((table.first { $0.suffix.utf8.elementsEqual(suffix.utf8) }?.code ?? text).utf8)
    }
}

extension String {
    fileprivate func dropPrefix(_ prefix: String) -> String {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : self
    }
}
