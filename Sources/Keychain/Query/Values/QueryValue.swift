/// A dictionary of the four functions of Keychain Services: the constants' string values and their values.
package typealias QueryDictionary = [String: QueryValue]

/// A decoded value of such a dictionary, and of a result.
///
/// Never contains a secret: the value of kSecValueData is passed separately (`SecretSource`, ``SealedSecret``).
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
    /// A CFNull, or a missing value.
    case null
    /// A CFData whose bytes are passed separately.
    case secret
    /// An object of another type: an LAContext, a SecPolicy.
    case object

    /// A text value.
    package static func string(_ text: String) -> QueryValue { .text(Array(text.utf8)) }

    /// Creates the value of an attribute.
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

    /// The integer of a CFNumber; nil if it is not an integer.
    var integer: Int64? {
        switch self {
        case .number(let number): number
        case .real(let number): Int64(exactly: number)
        default: nil
        }
    }
}
