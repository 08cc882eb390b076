import Synchronization

/// What was read last, as long as nothing has been committed since: a secret that is read again and again, and the
/// directory behind every attribute, cost no look-up in the store.
///
/// Bounded; secrets stay sealed. What a lock takes away is not kept beyond it: ``dropUnavailable(_:)`` comes after the
/// revocation of the keys, and nothing is added whose class is not available at that moment.
final class ReadCache: Sendable {
    /// An item and its secret, nil for an item without one.
    struct Value: Sendable {
        let item: Item
        let secret: SealedSecret?

        /// What it takes of memory beside a fixed size: an item's attributes may be as long as a secret.
        var bytes: Int { (secret?.count ?? 0) + item.attributeBytes }
    }

    private struct State {
        var commit = 0
        var directories: [RowID: Directory] = [:]
        /// Rows by look-up tag.
        var tags: [[UInt8]: RowID] = [:]
        var values = RecentValues<RowID, Value>(limit: valueLimit, byteLimit: valueBytes)
    }

    /// At most so many directories, and of values twice as many as the second, with twice as many bytes.
    static let limit = 1024
    static let valueLimit = 2048
    static let valueBytes = 2 << 20
    /// Longer ones are not kept: a few of them would take the place of all others. In bytes, with a secret of 64 KiB.
    static let longestValue = 66 << 10
    private let state = Mutex(State())

    /// The directory of that row if it was read since commit number `commit`.
    func directory(_ id: RowID, since commit: Int) -> Directory? {
        state.withLock { $0.commit == commit ? $0.directories[id] : nil }
    }

    /// The same for the directory of that look-up tag.
    func directory(tag: [UInt8], since commit: Int) -> Directory? {
        state.withLock { state in
            guard state.commit == commit, let row = state.tags[tag] else { return nil }
            return state.directories[row]
        }
    }

    /// The item of that row if it was read since commit number `commit`, and its class is available.
    func value(_ id: RowID, since commit: Int, _ isAvailable: (Protection) -> Bool) -> Value? {
        state.withLock { state in
            guard state.commit == commit, let value = state.values.value(id), isAvailable(value.item.protection),
                // A lock and an unlock may have passed since it was read: its key is not the present one.
                value.secret?.isAvailable ?? true
            else { return nil }
            return value
        }
    }

    /// `commit` is what the number was before the directory was read; `tag` is what it was found by, if it was.
    func keep(_ directory: Directory, tag: [UInt8]? = nil, since commit: Int, _ isAvailable: () -> Bool) {
        state.withLock { state in
            guard Self.begin(&state, commit), isAvailable() else { return }
            if state.directories.count >= Self.limit { (state.directories, state.tags) = ([:], [:]) }
            state.directories[directory.id] = directory
            if let tag { state.tags[tag] = directory.id }
        }
    }

    /// `commit` is what the number was before the item was read.
    func keep(_ value: Value, since commit: Int, _ isAvailable: (Protection) -> Bool) {
        let bytes = value.bytes
        guard bytes <= Self.longestValue else { return }
        state.withLock { state in
            guard Self.begin(&state, commit), isAvailable(value.item.protection) else { return }
            state.values.keep(value, bytes: bytes, for: value.item.id)
        }
    }

    /// Forgets the directories, and the items of classes that are not available.
    func dropUnavailable(_ isAvailable: (Protection) -> Bool) {
        state.withLock { state in
            (state.directories, state.tags) = ([:], [:])
            state.values.filter { isAvailable($0.item.protection) }
        }
    }

    /// Forgets everything.
    func dropAll() { state.withLock { $0 = State(commit: $0.commit) } }

    /// False if something has been committed since; forgets what is older.
    private static func begin(_ state: inout State, _ commit: Int) -> Bool {
        guard commit >= state.commit else { return false }
        if commit > state.commit { state = State(commit: commit) }
        return true
    }
}
