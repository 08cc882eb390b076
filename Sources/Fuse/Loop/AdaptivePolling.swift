/// Decides whether the receiver polls the device briefly before it blocks.
///
/// Waking a thread on another CPU takes longer than serving a request, so a poll that catches the next request pays
/// off. An unsuccessful poll takes CPU time from other processes: after too many of them polling pauses. All times are
/// monotonic nanoseconds.
struct AdaptivePolling {
    /// A poll in progress, until it receives a message or until `deadline`.
    struct Poll {
        let deadline: UInt64
    }

    /// The number of polls that are remembered.
    private static let length = UInt16.bitWidth
    /// The duration of a pause, after less than 50 % of the polls were successful.
    static let pause: UInt64 = 1_000_000_000

    /// The maximum duration of a poll; 0 disables polling.
    private let duration: UInt64
    /// A bit for each of the last polls, set if it received a message. Initially all are set.
    private var caught = UInt16.max
    private var pausedUntil: UInt64 = 0

    init(duration: UInt64) { self.duration = duration }

    /// Begins a poll after a request has been served; nil if no poll is due.
    func begin(at now: UInt64) -> Poll? {
        duration > 0 && now >= pausedUntil ? Poll(deadline: now + duration) : nil
    }

    /// Records the result of a poll. `now` is used if it received nothing.
    mutating func end(hasCaught: Bool, at now: UInt64) {
        caught = caught << 1 | (hasCaught ? 1 : 0)
        guard caught.nonzeroBitCount < Self.length / 2 else { return }
        pausedUntil = now + Self.pause
        caught = .max
    }
}
