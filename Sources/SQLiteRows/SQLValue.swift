/// An argument of a statement.
package enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case blob([UInt8])

    package static func blob(_ bytes: [UInt8]?) -> SQLValue { bytes.map { .blob($0) } ?? .null }
}
