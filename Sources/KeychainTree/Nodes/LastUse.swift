import Synchronization

/// When a secret was last read or written: a number that every such request stores and nobody waits for.
final class LastUse: Sendable {
    /// ``TreeHost/uptime`` in nanoseconds, which fit for 292 years.
    private let last = Atomic<Int64>(0)

    var time: Duration { .nanoseconds(last.load(ordering: .relaxed)) }

    func note(at time: Duration) {
        let (seconds, attoseconds) = time.components
        last.store(seconds * 1_000_000_000 + attoseconds / 1_000_000_000, ordering: .relaxed)
    }
}

extension KeychainFileSystem {
    /// When a secret was last read or written through the tree, as ``TreeHost/uptime``; zero if never. To list or to
    /// look at attributes is no use.
    package var lastUse: Duration { lastUseTime.time }

    /// A secret is being read or written.
    func recordUse() { lastUseTime.note(at: host.uptime) }
}
