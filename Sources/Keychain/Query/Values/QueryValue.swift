/// A dictionary as the four functions of Keychain Services take it: the constants' string values and what they stand for.
package typealias QueryDictionary = [String: QueryValue]

/// A value of such a dictionary, decoded, and of one that a query gives back.
///
/// Never a secret: what kSecValueData holds travels beside the dictionary (`SecretSource`, ``SealedSecret``).
package enum QueryValue: Hashable, Sendable {
    /// A CFString, as its UTF-8.
    case text([UInt8])
    /// A CFData.
    case data([UInt8])
    /// A CFNumber with an integer.
    case number(Int64)
    /// A CFNumber with a fraction.
    case real(Double)
    /// A CFBoolean.
    case boolean(Bool)
    /// A CFDate.
    case date(KeychainDate)
    /// A SecAccessControl.
    case accessControl(AccessControl)
    /// A CFArray.
    case list([QueryValue])
    /// A CFDictionary.
    case dictionary([String: QueryValue])
    /// A CFNull, or a value that is missing.
    case null
    /// A CFData whose bytes are beside the dictionary.
    case secret
    /// An object of another type: an LAContext, a SecPolicy.
    case object

    /// A text value.
    package static func string(_ text: String) -> QueryValue { .text(Array(text.utf8)) }

    /// The value that an attribute has.
    package init(_ value: AttributeValue) {
        self =
            switch value {
            case .text(let bytes): .text(bytes)
            case .data(let bytes): .data(bytes)
            case .number(let number): .number(number)
            case .date(let date): .date(date)
            }
    }

    /// The text of a CFString that is valid UTF-8.
    var string: String? {
        guard case .text(let bytes) = self else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// The integer of a CFNumber; nil for one that is none.
    var integer: Int64? {
        switch self {
        case .number(let number): number
        case .real(let number): Int64(exactly: number)
        default: nil
        }
    }
}
