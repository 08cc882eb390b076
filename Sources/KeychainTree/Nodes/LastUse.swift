import Synchronization

/// The time at which a secret was last read or written. Stored by every such request without waiting.
final class LastUse: Sendable {
    /// ``TreeHost/uptime`` in nanoseconds, which suffices for 292 years.
    private let last = Atomic<Int64>(0)

    var time: Duration { .nanoseconds(last.load(ordering: .relaxed)) }

    func note(at time: Duration) {
        let (seconds, attoseconds) = time.components
        last.store(seconds * 1_000_000_000 + attoseconds / 1_000_000_000, ordering: .relaxed)
    }
}

extension KeychainFileSystem {
    /// The time at which a secret was last read or written through the tree, as ``TreeHost/uptime``; zero if never.
    /// Listings and attributes do not count.
    package var lastUse: Duration { lastUseTime.time }

    /// Records that a secret is read or written.
    func recordUse() { lastUseTime.note(at: host.uptime) }
}
