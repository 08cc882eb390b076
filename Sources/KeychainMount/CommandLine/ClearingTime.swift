/// The time until the clipboard is cleared.
package struct ClearingTime: Sendable {
    /// The time; nil for no limit.
    package let duration: Duration?

    /// Parses a duration, or `0` for none.
    ///
    /// - Parameter text: Nil for the default.
    package init(_ text: String?) throws(CLIError) {
        guard text != "0" else {
            duration = nil
            return
        }
        guard let duration = DurationText.parse(text ?? Self.standard) else {
            throw CLIError(.usage, "The time is a duration such as 20s or 2m, or 0.")
        }
        self.duration = duration
    }

    /// The time if neither an option nor the settings have one.
    package static let standard = "45s"
}
