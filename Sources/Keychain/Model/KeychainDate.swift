/// A point in time with nanoseconds, since 1970-01-01T00:00:00Z.
package struct KeychainDate: Hashable, Comparable, Sendable {
    /// The seconds; negative before 1970.
    package var seconds: Int64
    /// The nanoseconds, 0 to 999,999,999.
    package var nanoseconds: Int32

    package init(seconds: Int64, nanoseconds: Int32 = 0) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    package static func < (a: KeychainDate, b: KeychainDate) -> Bool {
        (a.seconds, a.nanoseconds) < (b.seconds, b.nanoseconds)
    }

    /// Returns this time, or a millisecond after `earlier` if the clock has not advanced since.
    ///
    /// Apple's modification dates are strictly increasing in the same way.
    package func after(_ earlier: KeychainDate) -> KeychainDate {
        guard self <= earlier else { return self }
        let sum = earlier.nanoseconds + 1_000_000
        guard sum >= 1_000_000_000 else { return KeychainDate(seconds: earlier.seconds, nanoseconds: sum) }
        return KeychainDate(seconds: earlier.seconds &+ 1, nanoseconds: sum - 1_000_000_000)
    }
}
