import Synchronization

/// The values and directories that were read last: a secret that is read again, and the directory of each attribute, cost no lookup
/// in the store. The rows of each transaction are invalidated when it ends.
///
/// Bounded; secrets stay sealed. A lock removes what it makes unavailable: ``dropUnavailable(_:)`` follows the revocation of the keys,
/// and nothing is kept whose class is not available at that time.
final class ItemCache: Sendable {
    /// An item and its secret, nil for an item without one.
    struct Value: Sendable {
        let item: Item
        let secret: SealedSecret?

        /// What it takes of memory beside a fixed size: an item's attributes may be as long as a secret.
        var bytes: Int { (secret?.count ?? 0) + item.attributeBytes }
    }

    private struct KeptDirectory: Sendable {
        let directory: Directory
        /// The lookup tag that refers to it in ``State/tags``; nil if it was read by its row.
        var tag: [UInt8]?
    }

    private struct State {
        /// The number of transactions that have ended.
        var endings = 0
        var directories: [RowID: KeptDirectory] = [:]
        /// Rows by lookup tag, each of a kept directory.
        var tags: [[UInt8]: RowID] = [:]
        var values = TwoGenerationCache<RowID, Value>(limit: valueLimit, byteLimit: valueBytes)

        mutating func removeDirectory(_ id: RowID) {
            if let tag = directories.removeValue(forKey: id)?.tag { tags[tag] = nil }
        }

        mutating func removeAll() {
            self = State(endings: endings)
        }
    }

    /// At most so many directories, and of values twice as many as the second, with twice as many bytes.
    static let limit = 1024
    static let valueLimit = 2048
    static let valueBytes = 2 << 20
    /// Longer ones are not kept: a few of them would take the place of all others. In bytes, with a secret of 64 KiB.
    static let longestValue = 66 << 10
    private let state = Mutex(State())

    /// The number of transactions that have ended. Read it before the row that the cache will keep.
    var endings: Int { state.withLock { $0.endings } }

    func directory(_ id: RowID) -> Directory? { state.withLock { $0.directories[id]?.directory } }

    /// The directory of a lookup tag.
    func directory(tag: [UInt8]) -> Directory? {
        state.withLock { state in state.tags[tag].flatMap { state.directories[$0]?.directory } }
    }

    /// An item, if its class is available.
    func value(_ id: RowID, _ isAvailable: (ProtectionClass) -> Bool) -> Value? {
        state.withLock { state in
            guard let value = state.values.value(id), isAvailable(value.item.protection),
                // A lock and an unlock may have passed since it was read: its key is not the present one.
                value.secret?.isAvailable ?? true
            else { return nil }
            return value
        }
    }

    /// Keeps a directory, unless a transaction has ended since ``endings`` was `endings`: it may have changed the row.
    ///
    /// - Parameter tag: The lookup tag by which it was found, if it was.
    func keep(_ directory: Directory, tag: [UInt8]? = nil, since endings: Int, _ isAvailable: () -> Bool) {
        state.withLock { state in
            guard endings == state.endings, isAvailable() else { return }
            if state.directories.count >= Self.limit { (state.directories, state.tags) = ([:], [:]) }
            let known = state.directories[directory.id]?.tag
            if let tag, let known, known != tag { state.tags[known] = nil }
            state.directories[directory.id] = KeptDirectory(directory: directory, tag: tag ?? known)
            if let tag { state.tags[tag] = directory.id }
        }
    }

    /// Keeps an item, unless a transaction has ended since ``endings`` was `endings`.
    func keep(_ value: Value, since endings: Int, _ isAvailable: (ProtectionClass) -> Bool) {
        let bytes = value.bytes
        guard bytes <= Self.longestValue else { return }
        state.withLock { state in
            guard endings == state.endings, isAvailable(value.item.protection) else { return }
            state.values.keep(value, bytes: bytes, for: value.item.id)
        }
    }

    /// A transaction has ended that has changed these rows.
    func invalidate(_ rows: ChangedRows) {
        state.withLock { state in
            state.endings += 1
            guard !rows.areIncomplete else { return state.removeAll() }
            for id in rows.directories { state.removeDirectory(id) }
            rows.forEachItem { state.values.remove($0) }
        }
    }

    /// Removes the directories, and the items of classes that are not available.
    func dropUnavailable(_ isAvailable: (ProtectionClass) -> Bool) {
        state.withLock { state in
            (state.directories, state.tags) = ([:], [:])
            state.values.filter { isAvailable($0.item.protection) }
        }
    }

    func dropAll() { state.withLock { $0.removeAll() } }
}
