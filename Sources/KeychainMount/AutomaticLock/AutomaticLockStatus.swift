import LinuxSupport

/// The automatic locks as part of `status`.
package struct AutomaticLockStatus: Codable, Sendable {
    /// The time without use in seconds; nil if not set.
    package let after: Int64?
    package let atMost: Int64?
    /// The events: `suspend`, `screen`.
    package let events: [String]
    /// The time until the next lock in seconds; nil while none is due.
    package let remaining: Int64?
    /// Whether the login manager, which reports the events, is connected; nil if no event is set, or before the first
    /// attempt.
    package let hearsLoginManager: Bool?
    /// Whether a suspend waits for the lock; nil in the same cases, or without the event `suspend`.
    package let delaysSuspend: Bool?

    init(_ policy: LockPolicy, remaining: Duration?, connection: LoginConnection?) {
        after = policy.afterUse?.components.seconds
        atMost = policy.atMost?.components.seconds
        events = LoginEvent.allCases.filter(policy.events.contains).map(\.rawValue)
        // Rounded up, because the lock is due in some part of a second.
        self.remaining = remaining.map { max(0, ($0 + .nanoseconds(999_999_999)).components.seconds) }
        hearsLoginManager = connection.map { if case .unreachable = $0 { false } else { true } }
        delaysSuspend = policy.events.contains(.suspend) ? connection.map { $0 == .connected } : nil
    }

    /// The text for users; nil if nothing is set.
    var text: String? {
        var parts: [String] = []
        if let after { parts.append("after \(DurationText.text(.seconds(after))) without use") }
        if let atMost { parts.append("\(DurationText.text(.seconds(atMost))) after the unlock") }
        parts += events.map { $0 == LoginEvent.screen.rawValue ? "when the screen is locked" : "on \($0)" }
        guard !parts.isEmpty else { return nil }
        let due = remaining.map { "; next in \(DurationText.text(.seconds($0)))" } ?? ""
        return parts.joined(separator: ", ") + due
    }

    /// The warning for users; nil if there is no problem.
    var warning: String? {
        guard hearsLoginManager == false else {
            guard delaysSuspend == false else { return nil }
            return "the login manager (logind) grants no inhibitor: on a suspend the keychain may be locked too late"
        }
        return "the login manager (logind) cannot be reached: the keychain does not lock on suspend or screen lock"
    }
}
