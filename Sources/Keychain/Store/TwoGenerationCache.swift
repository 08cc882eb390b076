/// A cache of the most recently added and used values in two generations. When the younger one is full, it replaces the
/// older one.
///
/// Values that are used repeatedly stay, regardless of other ones. All operations except ``filter(_:)`` are O(1).
struct TwoGenerationCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        let value: Value
        let bytes: Int
    }

    private struct Generation: Sendable {
        private(set) var entries: [Key: Entry] = [:]
        private(set) var bytes = 0

        /// Adds an entry for a key that is not in this generation.
        mutating func add(_ entry: Entry, for key: Key) {
            entries[key] = entry
            bytes += entry.bytes
        }

        mutating func remove(_ key: Key) -> Entry? {
            guard let entry = entries.removeValue(forKey: key) else { return nil }
            bytes -= entry.bytes
            return entry
        }

        func filter(_ isKept: (Value) -> Bool) -> Self {
            var kept = self
            kept.entries = entries.filter { isKept($0.value.value) }
            kept.bytes = kept.entries.values.reduce(0) { $0 + $1.bytes }
            return kept
        }
    }

    /// The maximum of one generation: the number of values, and the sum of their sizes in bytes.
    let limit: Int
    let byteLimit: Int
    private var younger = Generation()
    private var older = Generation()

    init(limit: Int, byteLimit: Int) { (self.limit, self.byteLimit) = (limit, byteLimit) }

    /// Returns the value for `key`; nil if it is not cached.
    mutating func value(_ key: Key) -> Value? {
        if let entry = younger.entries[key] { return entry.value }
        guard let entry = older.remove(key) else { return nil }
        add(entry, for: key)
        return entry.value
    }

    /// Adds a value that uses that many bytes of memory, unless it alone exceeds the maximum.
    mutating func keep(_ value: Value, bytes: Int, for key: Key) {
        // A previous value is outdated.
        _ = older.remove(key)
        _ = younger.remove(key)
        if bytes <= byteLimit { add(Entry(value: value, bytes: bytes), for: key) }
    }

    /// Removes the value of `key`, if it is cached.
    mutating func remove(_ key: Key) {
        if younger.remove(key) == nil { _ = older.remove(key) }
    }

    private mutating func add(_ entry: Entry, for key: Key) {
        if younger.entries.count >= limit || younger.bytes + entry.bytes > byteLimit {
            older = younger
            younger = Generation()
        }
        younger.add(entry, for: key)
    }

    /// Removes the values for which `isKept` returns false.
    mutating func filter(_ isKept: (Value) -> Bool) {
        younger = younger.filter(isKept)
        older = older.filter(isKept)
    }
}
