import Keychain
import KeychainRPC

extension QueryValue {
    /// What the engine makes of a value of a message.
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
            // A request has one secret at the most.
            case .secret, .object: .object
            }
    }

    /// Nil for what says that it is none; a protection class that there is not makes an object of no type.
    private static func accessControl(_ value: PropertyList) -> QueryValue? {
        guard let terms = value.accessControl else { return nil }
        guard let protection = ProtectionClass(code: terms.protection) else { return .object }
        return .accessControl(AccessControl(protection: protection, flags: terms.flags))
    }
}

extension PropertyList {
    /// A value that the engine gives, as it travels.
    init(_ value: QueryValue) {
        self =
            switch value {
            // What is no text after all keeps its bytes.
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
    /// 2001-01-01T00:00:00Z, from which CFDate counts.
    private static let reference: Int64 = 978_307_200
    private static let nanosecond = 1e9

    /// Nil for what is no point in time: not a number, or beyond 64 bits of seconds.
    init?(sinceReference interval: Double) {
        let roundedDown = interval.rounded(.down)
        guard let seconds = Int64(exactly: roundedDown) else { return nil }
        let nanoseconds = Int32(((interval - roundedDown) * Self.nanosecond).rounded())
        let carry: Int64 = nanoseconds == 1_000_000_000 ? 1 : 0
        let (sum, overflow) = seconds.addingReportingOverflow(Self.reference + carry)
        guard !overflow else { return nil }
        self.init(seconds: sum, nanoseconds: carry == 1 ? 0 : nanoseconds)
    }

    /// Seconds, with the 53 significant bits that a CFDate has.
    var sinceReference: Double {
        Double(seconds) - Double(Self.reference) + Double(nanoseconds) / Self.nanosecond
    }
}
