/// A value of a message: the types of a binary property list, and representations of values that it cannot contain.
///
/// Never contains a secret: its bytes follow the list that refers to them.
package enum PropertyList: Hashable, Sendable {
    case string(String)
    case data([UInt8])
    case integer(Int64)
    case real(Double)
    case boolean(Bool)
    /// Seconds since 2001-01-01T00:00:00Z.
    case date(Double)
    case array([PropertyList])
    case dictionary([String: PropertyList])
    /// A CFNull, or a missing value.
    case null
    /// Data whose bytes are the n-th secret after the list, from 0.
    case secret(Int)
    /// An object of a type that cannot be transmitted: an LAContext, a SecPolicy.
    case object
}

extension PropertyList {
    private static let accessControlKey = "$accessControl"
    private static let protectionKey = "pdmn"
    private static let flagsKey = "flags"

    /// Returns the representation of a SecAccessControl: the kSecAttrAccessible constant's value and
    /// SecAccessControlCreateFlags.
    package static func accessControl(protection: String, flags: Int64) -> PropertyList {
        let terms: [String: PropertyList] = [protectionKey: .string(protection), flagsKey: .integer(flags)]
        return .dictionary([accessControlKey: .dictionary(terms)])
    }

    /// The protection class and flags of an ``accessControl(protection:flags:)``; nil for another value.
    package var accessControl: (protection: String, flags: Int64)? {
        guard case .dictionary(let values) = self, values.count == 1,
            case .dictionary(let terms)? = values[Self.accessControlKey], terms.count == 2,
            case .string(let protection)? = terms[Self.protectionKey], case .integer(let flags)? = terms[Self.flagsKey]
        else { return nil }
        return (protection, flags)
    }
}
