import Keychain
import KeychainRPC

extension QueryValue {
    /// Converts a value of a request for the query engine.
    init(_ value: PropertyList) {
        self =
            switch value {
            case .string(let text): .string(text)
            case .data(let bytes): .data(bytes)
            case .integer(let number): .number(number)
            case .real(let number): .real(number)
            case .boolean(let flag): .boolean(flag)
            case .date(let seconds): KeychainDate(sinceReference: seconds).map { .date($0) } ?? .object
            case .array(let values): .list(values.map { QueryValue($0) })
            case .dictionary(let values): Self.accessControl(value) ?? .dictionary(values.mapValues { QueryValue($0) })
            case .null: .null
            case .secret(0): .secret
            // A request contains at most one secret.
            case .secret, .object: .object
            }
    }

    /// Converts an access control; nil if `value` is not one. An unknown protection class results in an object without
    /// a type.
    private static func accessControl(_ value: PropertyList) -> QueryValue? {
        guard let terms = value.accessControl else { return nil }
        guard let protection = ProtectionClass(code: terms.protection) else { return .object }
        return .accessControl(AccessControl(protection: protection, flags: terms.flags))
    }
}

extension PropertyList {
    /// Converts a value of the query engine for a response.
    init(_ value: QueryValue) {
        self =
            switch value {
            // Text that is not valid UTF-8 is sent as data.
            case .text(let bytes): String(validating: bytes, as: UTF8.self).map { .string($0) } ?? .data(bytes)
            case .data(let bytes): .data(bytes)
            case .number(let number): .integer(number)
            case .real(let number): .real(number)
            case .boolean(let flag): .boolean(flag)
            case .date(let date): .date(date.sinceReference)
            case .accessControl(let control):
                .accessControl(protection: control.protection.code, flags: control.flags)
            case .list(let values): .array(values.map { PropertyList($0) })
            case .dictionary(let values): .dictionary(values.mapValues { PropertyList($0) })
            case .null: .null
            case .secret, .object: .object
            }
    }
}

extension KeychainDate {
    /// 2001-01-01T00:00:00Z, the reference date of CFDate, in seconds since 1970.
    private static let reference: Int64 = 978_307_200
    private static let nanosecond = 1e9

    /// Creates a date from seconds since 2001; nil for NaN, and beyond 64 bits of seconds.
    init?(sinceReference interval: Double) {
        let roundedDown = interval.rounded(.down)
        guard let seconds = Int64(exactly: roundedDown) else { return nil }
        let nanoseconds = Int32(((interval - roundedDown) * Self.nanosecond).rounded())
        let carry: Int64 = nanoseconds == 1_000_000_000 ? 1 : 0
        let (sum, overflow) = seconds.addingReportingOverflow(Self.reference + carry)
        guard !overflow else { return nil }
        self.init(seconds: sum, nanoseconds: carry == 1 ? 0 : nanoseconds)
    }

    /// Seconds since 2001, with the 53 significant bits of a CFDate.
    var sinceReference: Double {
        Double(seconds) - Double(Self.reference) + Double(nanoseconds) / Self.nanosecond
    }
}
