/// What was kept or asked for last, in two generations: when the younger one is full, it becomes the older one, whose values go.
///
/// So what is asked for again and again stays, whatever comes by meanwhile. All operations but ``filter(_:)`` are O(1).
struct RecentValues<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The most of one generation.
    let limit: Int
    private var younger: [Key: Value] = [:]
    private var older: [Key: Value] = [:]

    init(limit: Int) { self.limit = limit }

    /// The value that was kept for `key`, if it is still there.
    mutating func value(_ key: Key) -> Value? {
        if let value = younger[key] { return value }
        guard let value = older.removeValue(forKey: key) else { return nil }
        keep(value, for: key)
        return value
    }

    mutating func keep(_ value: Value, for key: Key) {
        if younger.count >= limit, younger[key] == nil {
            older = younger
            younger = Dictionary(minimumCapacity: limit)
        }
        younger[key] = value
    }

    /// Forgets the values of which `isKept` does not say true.
    mutating func filter(_ isKept: (Value) -> Bool) {
        younger = younger.filter { isKept($0.value) }
        older = older.filter { isKept($0.value) }
    }
}
