package import Keychain

/// A value of a property list, secrets included: what a caller puts into a dictionary and gets back.
package enum PlainValue: Equatable, Sendable {
    case text(String)
    case data([UInt8])
    case number(Int64)
    case real(Double)
    case boolean(Bool)
    case date(KeychainDate)
    case list([PlainValue])
    case dictionary([String: PlainValue])
    case accessControl(AccessControl)
    case null
    case object

    package subscript(key: String) -> PlainValue? {
        guard case .dictionary(let values) = self else { return nil }
        return values[key]
    }

    package subscript(index: Int) -> PlainValue? {
        guard case .list(let values) = self, values.indices.contains(index) else { return nil }
        return values[index]
    }

    /// The number of elements of a list; nil for any other value.
    package var count: Int? {
        guard case .list(let values) = self else { return nil }
        return values.count
    }

    package var bytes: [UInt8]? {
        guard case .data(let bytes) = self else { return nil }
        return bytes
    }

    package var values: [String: PlainValue] {
        guard case .dictionary(let values) = self else { return [:] }
        return values
    }

    package static func bytes(_ text: String) -> PlainValue { .data(Array(text.utf8)) }
}

extension PlainValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByFloatLiteral, ExpressibleByArrayLiteral
{
    package init(stringLiteral value: String) { self = .text(value) }
    package init(integerLiteral value: Int64) { self = .number(value) }
    package init(booleanLiteral value: Bool) { self = .boolean(value) }
    package init(floatLiteral value: Double) { self = .real(value) }
    package init(arrayLiteral elements: PlainValue...) { self = .list(elements) }
}
