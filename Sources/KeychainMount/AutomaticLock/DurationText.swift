/// Durations as users write them: `90s`, `15m`, `8h`, `1h30m`, `2d`.
package enum DurationText {
    /// The units in seconds, in the order in which they may occur.
    private static let units: [(name: Character, seconds: Int64)] = [
        ("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1),
    ]
    /// The maximum: about 68 years. Longer durations are mistakes.
    private static let limit = Int64(Int32.max)

    /// Parses a duration; nil for invalid text: no unit, a unit twice or out of order, zero, a sign, a fraction, more
    /// than 68 years.
    package static func parse(_ text: String) -> Duration? {
        var total: Int64 = 0
        var digits = ""
        var remaining = units[...]
        for character in text {
            if character.isASCII, character.isNumber {
                digits.append(character)
                continue
            }
            guard let index = remaining.firstIndex(where: { $0.name == character }), let number = Int64(digits) else {
                return nil
            }
            let (seconds, overflow) = number.multipliedReportingOverflow(by: units[index].seconds)
            guard !overflow, seconds <= limit - total else { return nil }
            total += seconds
            (digits, remaining) = ("", units[(index + 1)...])
        }
        return digits.isEmpty && total > 0 ? .seconds(total) : nil
    }

    /// Returns the shortest text that ``parse(_:)`` accepts, in whole seconds; `0s` for less than one.
    package static func text(_ duration: Duration) -> String {
        var rest = max(0, duration.components.seconds)
        var text = ""
        for unit in units where rest >= unit.seconds {
            text += "\(rest / unit.seconds)\(unit.name)"
            rest %= unit.seconds
        }
        return text.isEmpty ? "0s" : text
    }
}
