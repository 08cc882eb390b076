/// The durations of one kind of call, reported in microseconds.
struct Timing: Encodable {
    private var durations: [Duration] = []

    mutating func measure(_ body: () throws -> Void) rethrows {
        durations.append(try ContinuousClock().measure(body))
    }

    private enum Key: String, CodingKey {
        case count, median, p99, least
    }

    func encode(to encoder: any Encoder) throws {
        let sorted = durations.sorted()
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(sorted.count, forKey: .count)
        guard let least = sorted.first else { return }
        try container.encode(Self.microseconds(least), forKey: .least)
        try container.encode(Self.microseconds(sorted[sorted.count / 2]), forKey: .median)
        try container.encode(Self.microseconds(sorted[sorted.count * 99 / 100]), forKey: .p99)
    }

    private static func microseconds(_ duration: Duration) -> Double {
        let (seconds, attoseconds) = duration.components
        return Double(seconds) * 1e6 + (Double(attoseconds) / 1e12 * 10).rounded() / 10
    }
}
