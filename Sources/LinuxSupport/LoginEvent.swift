/// What the login manager tells a program of this user.
public enum LoginEvent: String, CaseIterable, Sendable {
    /// The system is about to sleep; it waits a few seconds for who has asked it to.
    case suspend
    /// A session of this user was locked, or its screen.
    case screen
}

/// Whether the login manager can be heard.
public enum LoginConnection: Hashable, Sendable {
    case connected
    /// It is heard, and grants no inhibitor: what it says of a suspend may come too late. The reason, for a log.
    case withoutDelay(String)
    /// The reason, for a log. It is tried again until it succeeds, unless there is nobody to try.
    case unreachable(String)
}
