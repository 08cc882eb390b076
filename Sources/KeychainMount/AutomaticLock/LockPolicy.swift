package import LinuxSupport

/// When a keychain locks by itself (contract, L4). Moments are times since the machine was started, suspends included.
package struct LockPolicy: Hashable, Sendable {
    /// Why it locks.
    package enum Reason: String, Sendable {
        /// No secret was read or written for so long.
        case unused
        /// It was unlocked so long ago.
        case age
        /// The system is about to sleep.
        case suspend
        /// The screen was locked.
        case screen

        init(_ event: LoginEvent) {
            self = event == .suspend ? .suspend : .screen
        }
    }

    /// So long after the last use; nil: use does not matter.
    package var afterUse: Duration?
    /// So long after the unlock, however much it is used; nil: age does not matter.
    package var atMost: Duration?
    /// When the login manager says so.
    package var events: Set<LoginEvent>

    package init(afterUse: Duration? = nil, atMost: Duration? = nil, events: Set<LoginEvent> = []) {
        self.afterUse = afterUse
        self.atMost = atMost
        self.events = events
    }

    /// Whether it ever locks by the clock.
    package var hasTimes: Bool { afterUse != nil || atMost != nil }

    /// The same as mount options.
    var options: [String] {
        [("lock_after", afterUse), ("lock_at_most", atMost)].compactMap { name, duration in
            duration.map { "\(name)=\(DurationText.text($0))" }
        } + LoginEvent.allCases.filter(events.contains).map { "lock_on=\($0.rawValue)" }
    }

    /// When it locks, and why; nil if never. An unlock is a use.
    package func deadline(unlocked: Duration, lastUse: Duration) -> (moment: Duration, reason: Reason)? {
        let unused = afterUse.map { (moment: max(unlocked, lastUse) + $0, reason: Reason.unused) }
        let age = atMost.map { (moment: unlocked + $0, reason: Reason.age) }
        guard let unused else { return age }
        guard let age else { return unused }
        return unused.moment < age.moment ? unused : age
    }
}
