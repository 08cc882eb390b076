import LinuxSupport

/// What `status` says about locking by itself.
package struct AutomaticLockStatus: Codable, Sendable {
    /// Seconds; nil: not set.
    package let after: Int64?
    package let atMost: Int64?
    /// `suspend`, `screen`.
    package let events: [String]
    /// Seconds from now; nil while nothing is due.
    package let remaining: Int64?
    /// Whether the login manager, which tells the events, can be heard; nil: nobody wants to, or not tried yet.
    package let hearsLoginManager: Bool?
    /// Whether a suspend waits for the lock; nil likewise, or where none is to.
    package let delaysSuspend: Bool?

    init(_ policy: LockPolicy, remaining: Duration?, connection: LoginConnection?) {
        after = policy.afterUse?.components.seconds
        atMost = policy.atMost?.components.seconds
        events = LoginEvent.allCases.filter(policy.events.contains).map(\.rawValue)
        // Rounded up: what is due is due in some part of a second.
        self.remaining = remaining.map { max(0, ($0 + .nanoseconds(999_999_999)).components.seconds) }
        hearsLoginManager = connection.map { if case .unreachable = $0 { false } else { true } }
        delaysSuspend = policy.events.contains(.suspend) ? connection.map { $0 == .connected } : nil
    }

    /// For a person; nil if nothing is set.
    var text: String? {
        var parts: [String] = []
        if let after { parts.append("after \(DurationText.text(.seconds(after))) without use") }
        if let atMost { parts.append("\(DurationText.text(.seconds(atMost))) after the unlock") }
        parts += events.map { $0 == LoginEvent.screen.rawValue ? "when the screen is locked" : "on \($0)" }
        guard !parts.isEmpty else { return nil }
        let due = remaining.map { "; next in \(DurationText.text(.seconds($0)))" } ?? ""
        return parts.joined(separator: ", ") + due
    }

    /// What the user should know.
    var warning: String? {
        guard hearsLoginManager == false else {
            guard delaysSuspend == false else { return nil }
            return "the login manager (logind) grants no inhibitor: on a suspend the keychain may be locked too late"
        }
        return "the login manager (logind) cannot be reached: the keychain does not lock on suspend or screen lock"
    }
}
