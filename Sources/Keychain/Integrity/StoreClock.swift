/// Advances the store time of a header: the age by which past values expire (``StoreHeader/storeTime``).
///
/// While a program has the store open, store time follows CLOCK_BOOTTIME, which no change of the wall clock affects. For
/// the time before that, only the wall clock is known, which counts for at most 7 days: a clock that is wrong by years
/// must not expire everything.
struct StoreClock: Sendable {
    private static let longestGap: Int64 = 7 * 86_400

    /// Returns the wall clock; nil for a program that does not keep the store open, which leaves the times unchanged.
    var wallClock: (@Sendable () -> KeychainDate)?
    /// The last transaction of this program, and the part of a second that it has not counted; nil before the first one.
    private var last: ContinuousClock.Instant?

    /// Sets the times of a transaction's header, which contains those of the transaction before.
    ///
    /// - Parameter now: The clock that continues while the machine sleeps.
    mutating func advance(_ header: inout StoreHeader, now: ContinuousClock.Instant = .now) {
        guard let wallClock else { return }
        let wall = wallClock().seconds
        let passed = passed(header, wall, now)
        let (time, hasOverflowed) = header.storeTime.addingReportingOverflow(passed)
        if !hasOverflowed { header.storeTime = time }
        header.wallClock = wall
    }

    private mutating func passed(_ header: StoreHeader, _ wall: Int64, _ now: ContinuousClock.Instant) -> Int64 {
        guard let last else {
            last = now
            // The header of a new store has no time.
            return header.wallClock == 0 ? 0 : min(max(0, wall.subtracting(header.wallClock)), Self.longestGap)
        }
        let seconds = max(0, (now - last).components.seconds)
        self.last = last + .seconds(seconds)
        return seconds
    }
}

extension Int64 {
    /// Returns the difference; the highest or lowest number if it is out of range.
    fileprivate func subtracting(_ other: Int64) -> Int64 {
        let (difference, hasOverflowed) = subtractingReportingOverflow(other)
        return hasOverflowed ? (self < 0 ? .min : .max) : difference
    }
}
