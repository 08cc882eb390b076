/// What was kept or asked for last, in two generations: when the younger one is full, it becomes the older one, whose values go.
///
/// So what is asked for again and again stays, whatever comes by meanwhile. All operations but ``filter(_:)`` are O(1).
struct TwoGenerationCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        let value: Value
        let bytes: Int
    }

    private struct Generation: Sendable {
        private(set) var entries: [Key: Entry] = [:]
        private(set) var bytes = 0

        /// There is none of that key.
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

    /// The most of one generation: values, and bytes of all of them.
    let limit: Int
    let byteLimit: Int
    private var younger = Generation()
    private var older = Generation()

    init(limit: Int, byteLimit: Int) { (self.limit, self.byteLimit) = (limit, byteLimit) }

    /// The value that was kept for `key`, if it is still there.
    mutating func value(_ key: Key) -> Value? {
        if let entry = younger.entries[key] { return entry.value }
        guard let entry = older.remove(key) else { return nil }
        add(entry, for: key)
        return entry.value
    }

    /// Keeps a value that takes so many bytes of memory, unless it alone takes more than there are.
    mutating func keep(_ value: Value, bytes: Int, for key: Key) {
        // What was kept before is out of date.
        _ = older.remove(key)
        _ = younger.remove(key)
        if bytes <= byteLimit { add(Entry(value: value, bytes: bytes), for: key) }
    }

    /// Removes the value of `key`, if there is one.
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

    /// Forgets the values of which `isKept` does not say true.
    mutating func filter(_ isKept: (Value) -> Bool) {
        younger = younger.filter(isKept)
        older = older.filter(isKept)
    }
}
