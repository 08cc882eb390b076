package import Keychain

/// Dates as text: RFC 3339 in UTC, with the necessary number of digits of the second.
package enum DateText {
    private static let secondsPerDay: Int64 = 86_400

    package static func encode(_ date: KeychainDate) -> String {
        let days = date.seconds.dividing(by: secondsPerDay)
        let (year, month, day) = civil(fromDays: days.quotient)
        let time = days.remainder
        var text = "\(pad(year, 4))-\(pad(month, 2))-\(pad(day, 2))T"
        text += "\(pad(time / 3600, 2)):\(pad(time / 60 % 60, 2)):\(pad(time % 60, 2))"
        if date.nanoseconds != 0 {
            var fraction = pad(Int64(date.nanoseconds), 9)
            while fraction.last == "0" { fraction.removeLast() }
            text += "." + fraction
        }
        return text + "Z"
    }

    /// Parses any RFC 3339 date-time, with `Z` or a numeric offset. Returns nil for other text, and for dates outside
    /// of the years 0000 to 9999 in UTC, which could not be encoded again.
    static func decode(_ text: String) -> KeychainDate? {
        let pattern = /(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))/
            .asciiOnlyDigits()
        guard let match = text.wholeMatch(of: pattern) else { return nil }
        let fields = [match.1, match.2, match.3, match.4, match.5, match.6].compactMap { Int64($0) }
        guard fields.count == 6, (1...12).contains(fields[1]), (1...31).contains(fields[2]) else { return nil }
        guard fields[3] < 24, fields[4] < 60, fields[5] < 60 else { return nil }
        let days = days(fromYear: fields[0], month: fields[1], day: fields[2])
        guard civil(fromDays: days) == (fields[0], fields[1], fields[2]) else { return nil }
        var seconds = days * secondsPerDay + fields[3] * 3600 + fields[4] * 60 + fields[5]
        if let sign = match.8, let hours = match.9.flatMap({ Int64($0) }), let minutes = match.10.flatMap({ Int64($0) })
        {
            guard hours < 24, minutes < 60 else { return nil }
            seconds -= (sign == "-" ? -1 : 1) * (hours * 3600 + minutes * 60)
        }
        guard (0...9999).contains(civil(fromDays: seconds.dividing(by: secondsPerDay).quotient).0) else { return nil }
        let digits = match.7.map(String.init) ?? ""
        let fraction = digits + String(repeating: "0", count: 9 - digits.count)
        return KeychainDate(seconds: seconds, nanoseconds: Int32(fraction) ?? 0)
    }

    private static func pad(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    /// Returns the number of days in the proleptic Gregorian calendar. The year begins in March here, so that the leap
    /// day is its last.
    private static func days(fromYear year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted.dividing(by: 400)
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = era.remainder * 365 + era.remainder / 4 - era.remainder / 100 + dayOfYear
        return era.quotient * 146_097 + dayOfEra - 719_468
    }

    private static func civil(fromDays days: Int64) -> (Int64, Int64, Int64) {
        let era = (days + 719_468).dividing(by: 146_097)
        let dayOfEra = era.remainder
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era.quotient * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }
}

extension Int64 {
    /// Divides, rounding down, so that the remainder is never negative.
    fileprivate func dividing(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
