extension CanonicalName {
    /// Returns the canonical name of the account that a refused name probably means, for a message; nil if it is unknown.
    package static func account(similarTo typed: [UInt8]) -> CanonicalName? {
        suggestion(CanonicalName(account: .blob(NameEncoding.meaning(of: typed))), for: typed)
    }

    /// Returns the canonical name of the service that a refused name probably means, for a message; nil if it is unknown.
    package static func service(similarTo typed: [UInt8], in itemClass: ItemClass) -> CanonicalName? {
        switch itemClass {
        case .genericPassword:
            suggestion(
                CanonicalName(service: .generic(service: .blob(NameEncoding.meaning(of: typed)))), for: typed)
        case .internetPassword:
            ServiceName.parse(NameEncoding.withCapitalDigits(typed)).flatMap {
                suggestion(CanonicalName(service: .internet($0.normalized)), for: typed)
            }
        }
    }

    /// A cut name cannot be typed.
    private static func suggestion(_ name: CanonicalName, for typed: [UInt8]) -> CanonicalName? {
        name.isCut || name.bytes == typed || !AttributeValue.isValidUTF8(name.bytes) ? nil : name
    }
}

extension NameEncoding {
    /// Returns the bytes that a name means which is not canonical: with small hexadecimal digits, or not encoded.
    fileprivate static func meaning(of typed: [UInt8]) -> [UInt8] { decode(withCapitalDigits(typed)) ?? typed }

    /// Replaces `%2f` by `%2F`.
    fileprivate static func withCapitalDigits(_ typed: [UInt8]) -> [UInt8] {
        var name = typed
        for index in name.indices where name[index] == UInt8(ascii: "%") {
            for digit in name.indices.dropFirst(index + 1).prefix(2) where (0x61...0x66).contains(name[digit]) {
                name[digit] -= 0x20
            }
        }
        return name
    }
}
