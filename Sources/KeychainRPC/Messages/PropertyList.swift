/// A value of a message: what a binary property list can hold, and what stands in one for what it cannot.
///
/// Never a secret: the bytes of one travel beside the list that names them.
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
    /// A CFNull, or a value that is missing.
    case null
    /// Data whose bytes are the n-th secret beside the list; from 0.
    case secret(Int)
    /// An object of a type that does not travel: an LAContext, a SecPolicy.
    case object
}

extension PropertyList {
    private static let accessControlKey = "$accessControl"
    private static let protectionKey = "pdmn"
    private static let flagsKey = "flags"

    /// A SecAccessControl: the kSecAttrAccessible constant's value and SecAccessControlCreateFlags.
    package static func accessControl(protection: String, flags: Int64) -> PropertyList {
        let terms: [String: PropertyList] = [protectionKey: .string(protection), flagsKey: .integer(flags)]
        return .dictionary([accessControlKey: .dictionary(terms)])
    }

    /// What ``accessControl(protection:flags:)`` has made; nil for anything else.
    package var accessControl: (protection: String, flags: Int64)? {
        guard case .dictionary(let values) = self, values.count == 1,
            case .dictionary(let terms)? = values[Self.accessControlKey], terms.count == 2,
            case .string(let protection)? = terms[Self.protectionKey], case .integer(let flags)? = terms[Self.flagsKey]
        else { return nil }
        return (protection, flags)
    }
}
