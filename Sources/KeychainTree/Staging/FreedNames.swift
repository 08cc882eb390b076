/// The recently freed names and the items they referred to. Decides whether an item created under such a name continues
/// the former item (F5).
///
/// A value type without side effects: callers pass the process and the time. The number of names and their lifetime are
/// bounded.
struct FreedNames<Former: Sendable>: Sendable {
    /// The entry of one name.
    struct Entry: Sendable {
        /// Identifies the name and its directory without revealing them.
        let tag: [UInt8]
        let process: ProcessIdentity
        /// The last time at which it can be reused.
        let deadline: Duration
        let former: Former
        /// The memory of `former` in bytes.
        let weight: Int
    }

    /// The lifetime of an entry.
    static var lifetime: Duration { .seconds(10) }

    /// The maximum number of names, and the maximum memory of all together in bytes. The oldest are removed first.
    let countLimit: Int
    let weightLimit: Int
    /// The entries in the order in which they were freed.
    private var entries: [Entry] = []

    init(countLimit: Int = 64, weightLimit: Int = 512 << 10) {
        self.countLimit = countLimit
        self.weightLimit = weightLimit
    }

    var count: Int { entries.count }

    func contains(_ tag: [UInt8]) -> Bool { entries.contains { $0.tag == tag } }

    /// Records a name that a process has freed.
    mutating func free(
        _ tag: [UInt8], by process: ProcessIdentity, leaving former: Former, weight: Int, at now: Duration
    ) {
        putBack(
            Entry(tag: tag, process: process, deadline: now + Self.lifetime, former: former, weight: weight), at: now)
    }

    /// Removes a name that is created again. Returns its entry if the same process has freed it recently.
    ///
    /// Afterwards no other process can continue the former item.
    mutating func take(_ tag: [UInt8], by process: ProcessIdentity?, at now: Duration) -> Entry? {
        removeExpired(at: now)
        guard let index = entries.firstIndex(where: { $0.tag == tag }) else { return nil }
        let entry = entries.remove(at: index)
        return entry.process == process ? entry : nil
    }

    /// Restores an entry after a failed creation, with the same deadline.
    mutating func putBack(_ entry: Entry, at now: Duration) {
        entries.removeAll { $0.tag == entry.tag }
        removeExpired(at: now)
        entries.append(entry)
        var weight = entries.reduce(0) { $0 + $1.weight }
        while entries.count > countLimit || weight > weightLimit, let oldest = entries.first {
            weight -= oldest.weight
            entries.removeFirst()
        }
    }

    /// Removes the entry of a name.
    mutating func forget(_ tag: [UInt8]) {
        entries.removeAll { $0.tag == tag }
    }

    mutating func removeAll() {
        entries = []
    }

    private mutating func removeExpired(at now: Duration) {
        entries.removeAll { $0.deadline < now }
    }
}
