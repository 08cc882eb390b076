import Synchronization

/// A cache of the most recently read items and directories: repeated reads of a secret, and of the directory of each
/// attribute, need no query of the store. The rows of each transaction are invalidated at its end.
///
/// The size is bounded, and secrets stay sealed. A lock removes the items that become unavailable:
/// ``dropUnavailable(_:)`` follows the revocation of the keys, and no item of an unavailable class is added afterwards.
final class ItemCache: Sendable {
    /// An item and its secret; nil for an item without one.
    struct Value: Sendable {
        let item: Item
        let secret: SealedSecret?

        /// The memory in bytes in addition to a fixed size. An item's attributes may be as long as a secret.
        var bytes: Int { (secret?.count ?? 0) + item.attributeBytes }
    }

    private struct KeptDirectory: Sendable {
        let directory: Directory
        /// The lookup tag that refers to the entry in ``State/tags``; nil if it was read by its row.
        var tag: [UInt8]?
    }

    private struct State {
        /// The number of transactions that have ended.
        var endings = 0
        var directories: [RowID: KeptDirectory] = [:]
        /// Row numbers by lookup tag, each of a cached directory.
        var tags: [[UInt8]: RowID] = [:]
        var values = TwoGenerationCache<RowID, Value>(limit: valueLimit, byteLimit: valueBytes)

        mutating func removeDirectory(_ id: RowID) {
            if let tag = directories.removeValue(forKey: id)?.tag { tags[tag] = nil }
        }

        mutating func removeAll() {
            self = State(endings: endings)
        }
    }

    /// The maximum number of directories in each generation of the cache.
    static let limit = 1024
    /// The maximum number of values and of their bytes in each generation of the cache.
    static let valueLimit = 2048
    static let valueBytes = 2 << 20
    /// The maximum size of a cached value in bytes: a secret of 64 KiB. A few longer ones would replace all others.
    static let longestValue = 66 << 10
    private let state = Mutex(State())

    /// The number of transactions that have ended. Must be read before the row that is added to the cache.
    var endings: Int { state.withLock { $0.endings } }

    func directory(_ id: RowID) -> Directory? { state.withLock { $0.directories[id]?.directory } }

    /// Returns the directory with a lookup tag.
    func directory(tag: [UInt8]) -> Directory? {
        state.withLock { state in state.tags[tag].flatMap { state.directories[$0]?.directory } }
    }

    /// Returns an item if its class is available.
    func value(_ id: RowID, _ isAvailable: (ProtectionClass) -> Bool) -> Value? {
        state.withLock { state in
            guard let value = state.values.value(id), isAvailable(value.item.protection),
                // A lock and an unlock may have happened since it was read, so its key may not be the present one.
                value.secret?.isAvailable ?? true
            else { return nil }
            return value
        }
    }

    /// Adds a directory, unless a transaction has ended since ``endings`` was `endings`, which may have changed the
    /// row.
    ///
    /// - Parameter tag: The lookup tag by which it was found; nil otherwise.
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

    /// Adds an item, unless a transaction has ended since ``endings`` was `endings`.
    func keep(_ value: Value, since endings: Int, _ isAvailable: (ProtectionClass) -> Bool) {
        let bytes = value.bytes
        guard bytes <= Self.longestValue else { return }
        state.withLock { state in
            guard endings == state.endings, isAvailable(value.item.protection) else { return }
            state.values.keep(value, bytes: bytes, for: value.item.id)
        }
    }

    /// Removes the rows that a transaction has changed.
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
