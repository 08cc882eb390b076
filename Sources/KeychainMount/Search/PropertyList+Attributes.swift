import Keychain
import KeychainRPC

/// The seconds from 1970-01-01 to 2001-01-01.
private let referenceDate: Int64 = 978_307_200

extension PropertyList {
    /// Creates an attribute's value for a query.
    init(_ value: AttributeValue) {
        switch value {
        case .text(let bytes): self = String(validating: bytes, as: UTF8.self).map { .string($0) } ?? .data(bytes)
        case .data(let bytes): self = .data(bytes)
        case .number(let number): self = .integer(number)
        case .date(let date): self = .date(Double(date.seconds - referenceDate) + Double(date.nanoseconds) / 1e9)
        }
    }

    /// The value of an attribute in a result; nil if it is not one.
    var attributeValue: AttributeValue? {
        switch self {
        case .string(let text): .string(text)
        case .data(let bytes): .data(bytes)
        case .integer(let number): .number(number)
        case .boolean(let flag): .number(flag ? 1 : 0)
        case .date(let seconds): KeychainDate(secondsSince2001: seconds).map { .date($0) }
        default: accessControl.map { .number($0.flags) }
        }
    }
}

extension KeychainDate {
    /// Creates a date with the precision of such a number, a microsecond.
    fileprivate init?(secondsSince2001 seconds: Double) {
        guard let rounded = Int64(exactly: seconds.rounded(.down)) else { return nil }
        let microseconds = Int32(((seconds - Double(rounded)) * 1e6).rounded())
        let (carry, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        let (sum, overflow) = rounded.addingReportingOverflow(referenceDate + Int64(carry))
        guard !overflow else { return nil }
        self.init(seconds: sum, nanoseconds: rest * 1000)
    }
}
