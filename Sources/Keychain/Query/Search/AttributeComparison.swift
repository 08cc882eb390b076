/// Compares the values of a query with those of an item.
struct AttributeComparison: Sendable {
    /// kSecMatchCaseInsensitive
    let isCaseInsensitive: Bool

    /// The tolerance of dates in nanoseconds. A CFDate is a number of seconds with 53 significant bits, which for
    /// present dates is a precision of a tenth of a microsecond.
    private static let dateTolerance: Int64 = 1_000

    /// Whether two values are equal. Text and data with equal bytes are equal. No value equals a missing one.
    func areEqual(_ wanted: AttributeValue, _ found: AttributeValue?) -> Bool {
        switch (wanted, found) {
        case (.number(let one), .number(let other)): return one == other
        case (.date(let one), .date(let other)): return Self.areEqual(one, other)
        default:
            guard let one = wanted.bytes, let other = found?.bytes else { return false }
            return areEqual(one, other)
        }
    }

    /// Whether the bytes of two texts are equal.
    func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        if one == other { return true }
        guard isCaseInsensitive else { return false }
        return Self.folded(one) == Self.folded(other)
    }

    /// Returns text in a form for comparison that ignores case; other bytes unchanged.
    static func folded(_ bytes: [UInt8]) -> [UInt8] {
        guard let text = String(validating: bytes, as: UTF8.self) else { return bytes }
        return Array(text.lowercased().utf8)
    }

    private static func areEqual(_ one: KeychainDate, _ other: KeychainDate) -> Bool {
        let (seconds, overflow) = one.seconds.subtractingReportingOverflow(other.seconds)
        guard !overflow, (-1...1).contains(seconds) else { return false }
        return abs(seconds * 1_000_000_000 + Int64(one.nanoseconds - other.nanoseconds)) < dateTolerance
    }
}
