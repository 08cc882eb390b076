/// What `status` says about locking by itself.
package struct AutomaticLockStatus: Codable, Sendable {
    /// Seconds; nil: not set.
    package let after: Int64?
    package let atMost: Int64?
    /// Seconds from now; nil while nothing is due.
    package let remaining: Int64?

    init(_ policy: LockPolicy, remaining: Duration?) {
        after = policy.afterUse?.components.seconds
        atMost = policy.atMost?.components.seconds
        // Rounded up: what is due is due in some part of a second.
        self.remaining = remaining.map { max(0, ($0 + .nanoseconds(999_999_999)).components.seconds) }
    }

    /// For a person; nil if nothing is set.
    var text: String? {
        var parts: [String] = []
        if let after { parts.append("after \(DurationText.text(.seconds(after))) without use") }
        if let atMost { parts.append("\(DurationText.text(.seconds(atMost))) after the unlock") }
        guard !parts.isEmpty else { return nil }
        let due = remaining.map { "; next in \(DurationText.text(.seconds($0)))" } ?? ""
        return parts.joined(separator: ", ") + due
    }
}
