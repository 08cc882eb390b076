package import LinuxSupport

/// The conditions of automatic locks (contract, L4). Times are since the start of the machine, including suspends.
package struct LockPolicy: Hashable, Sendable {
    /// The reason of a lock.
    package enum Reason: String, Sendable {
        /// The time without reading or writing a secret has passed.
        case unused
        /// The time since the unlock has passed.
        case age
        /// The system is about to sleep.
        case suspend
        /// The screen was locked.
        case screen

        init(_ event: LoginEvent) {
            self = event == .suspend ? .suspend : .screen
        }
    }

    /// The time after the last use; nil if use does not matter.
    package var afterUse: Duration?
    /// The time after the unlock, regardless of use; nil if it does not matter.
    package var atMost: Duration?
    /// The events of the login manager.
    package var events: Set<LoginEvent>

    package init(afterUse: Duration? = nil, atMost: Duration? = nil, events: Set<LoginEvent> = []) {
        self.afterUse = afterUse
        self.atMost = atMost
        self.events = events
    }

    /// Whether it contains a time.
    package var hasTimes: Bool { afterUse != nil || atMost != nil }

    /// The policy as mount options.
    var options: [String] {
        [("lock_after", afterUse), ("lock_at_most", atMost)].compactMap { name, duration in
            duration.map { "\(name)=\(DurationText.text($0))" }
        } + LoginEvent.allCases.filter(events.contains).map { "lock_on=\($0.rawValue)" }
    }

    /// Returns the time of the next lock and its reason; nil if none is due. An unlock counts as a use.
    package func deadline(unlocked: Duration, lastUse: Duration) -> (moment: Duration, reason: Reason)? {
        let unused = afterUse.map { (moment: max(unlocked, lastUse) + $0, reason: Reason.unused) }
        let age = atMost.map { (moment: unlocked + $0, reason: Reason.age) }
        guard let unused else { return age }
        guard let age else { return unused }
        return unused.moment < age.moment ? unused : age
    }
}
