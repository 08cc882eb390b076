/// An event that the login manager reports.
public enum LoginEvent: String, CaseIterable, Sendable {
    /// The system is about to sleep. It waits a few seconds for holders of an inhibitor lock.
    case suspend
    /// A session of this user, or its screen, has been locked.
    case screen
}

/// The state of the connection to the login manager.
public enum LoginConnection: Hashable, Sendable {
    case connected
    /// Connected, without an inhibitor lock: the report of a suspend may arrive too late. Contains the reason, for a
    /// log.
    case withoutDelay(String)
    /// No connection. Contains the reason, for a log. The connection is retried unless libsystemd is not installed.
    case unreachable(String)
}
