import Keychain

extension KeychainDate {
    /// To the microsecond, as a date of Foundation's can hold it.
    static let sample = KeychainDate(seconds: 1_700_000_000, nanoseconds: 123_456_000)
}
