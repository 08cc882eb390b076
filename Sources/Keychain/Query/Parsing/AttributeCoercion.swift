extension AttributeKey {
    /// Returns the attribute with that four-character code; nil if `itemClass` does not have it.
    static func coded(_ code: String, in itemClass: ItemClass) -> AttributeKey? {
        byCode[code].flatMap { $0.definition.classes.contains(itemClass) ? $0 : nil }
    }

    private static let byCode = Dictionary(
        allCases.map { ($0.definition.code, $0) }, uniquingKeysWith: { first, _ in first })

    /// Coerces a value to the type of the attribute (reference 1.2).
    ///
    /// - Throws: `param` for a value that it cannot represent, and for attributes that are refused (contract, T3).
    func coerced(_ value: QueryValue) throws(SecurityStatus) -> AttributeValue {
        if definition.role == .refused { throw .param }
        let coerced =
            switch definition.kind {
            // Data by convention, but Apple stores it unchanged.
            case .data where self == .generic: Self.blob(value)
            case .blob where definition.role == .primaryKey: Self.name(value)
            case .blob: Self.blob(value)
            case .authenticationType: Self.name(value)
            case .string: Self.text(value)
            case .data: Self.data(value)
            case .number where self == .port: Self.port(value)
            case .number: Self.number(value)
            case .internetProtocol: Self.internetProtocol(value)
            case .boolean: Self.flag(value)
            case .date: Self.date(value)
            case .protection: Self.protection(value)
            }
        guard let coerced else { throw .param }
        return coerced
    }

    /// Text, data or a number, unchanged.
    private static func blob(_ value: QueryValue) -> AttributeValue? {
        switch value {
        case .text(let bytes): AttributeValue.isValidUTF8(bytes) ? .text(bytes) : nil
        case .data(let bytes): .data(bytes)
        default: value.integer.map { .number($0) }
        }
    }

    /// A blob that is part of the primary key. Names consist of bytes, so a number becomes its digits.
    private static func name(_ value: QueryValue) -> AttributeValue? {
        guard case .number(let number)? = blob(value) else { return blob(value) }
        return .string(String(number))
    }

    private static func text(_ value: QueryValue) -> AttributeValue? {
        switch value {
        case .text(let bytes), .data(let bytes): AttributeValue.isValidUTF8(bytes) ? .text(bytes) : nil
        default: nil
        }
    }

    private static func data(_ value: QueryValue) -> AttributeValue? {
        if case .text(let bytes) = value { return .data(bytes) }
        guard case .data(let bytes) = value else { return nil }
        return .data(bytes)
    }

    /// Text that is not a decimal integer stays text: `htps`.
    private static func number(_ value: QueryValue) -> AttributeValue? {
        switch value {
        case .boolean(let flag): .number(flag ? 1 : 0)
        case .text(let bytes): AttributeValue.isValidUTF8(bytes) ? .decimal(.text(bytes)) : nil
        default: value.integer.map { .number($0) }
        }
    }

    /// No protocol is 0, as Apple stores it.
    private static func internetProtocol(_ value: QueryValue) -> AttributeValue? {
        number(value).map { $0.bytes?.isEmpty == true ? .number(0) : $0 }
    }

    /// The empty text is 0, as on iOS.
    private static func port(_ value: QueryValue) -> AttributeValue? {
        guard case .text(let digits)? = number(value) else { return number(value) }
        return digits.isEmpty ? .number(0) : nil
    }

    private static func flag(_ value: QueryValue) -> AttributeValue? {
        guard case .number(let number)? = number(value) else { return nil }
        return .number(number == 0 ? 0 : 1)
    }

    private static func date(_ value: QueryValue) -> AttributeValue? {
        guard case .date(let date) = value, (0..<1_000_000_000).contains(date.nanoseconds) else { return nil }
        return .date(date)
    }

    private static func protection(_ value: QueryValue) -> AttributeValue? {
        guard let code = value.string, ProtectionClass(code: code) != nil else { return nil }
        return .string(code)
    }
}

extension ProtectionClass {
    /// Creates the class of a kSecAttrAccessible constant.
    package init?(code: String) {
        guard let found = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = found
    }

    /// Creates the class that an attribute names.
    init?(_ value: AttributeValue) {
        guard case .text(let bytes) = value else { return nil }
        self.init(code: String(decoding: bytes, as: UTF8.self))
    }
}
