/// Whether it pays to ask the device again for a moment before going to sleep.
///
/// Waking a thread on another CPU costs more than serving a request, so a poll that catches the next one is worth its time. One
/// that does not took the CPU from somebody: after too many of those there is a pause. All times are monotonic nanoseconds.
struct AdaptivePolling {
    /// A poll that is under way, until it catches a message or `deadline` has come.
    struct Poll {
        let deadline: UInt64
    }

    /// How many polls are remembered.
    private static let length = UInt16.bitWidth
    /// For how long nothing is polled when fewer than half of them have caught a message.
    static let pause: UInt64 = 1_000_000_000

    /// How long one may take; 0: none is made.
    private let duration: UInt64
    /// One bit for each of the last polls, set if it caught a message; those before the first count as if they had.
    private var caught = UInt16.max
    private var pausedUntil: UInt64 = 0

    init(duration: UInt64) { self.duration = duration }

    /// A poll that begins after a request has been served; nil if there is to be none.
    func begin(at now: UInt64) -> Poll? {
        duration > 0 && now >= pausedUntil ? Poll(deadline: now + duration) : nil
    }

    /// `now` counts when it caught nothing.
    mutating func end(hasCaught: Bool, at now: UInt64) {
        caught = caught << 1 | (hasCaught ? 1 : 0)
        guard caught.nonzeroBitCount < Self.length / 2 else { return }
        pausedUntil = now + Self.pause
        caught = .max
    }
}
