/// Names that have just been freed, and what they stood for: when one that is taken again is the same item (F5).
///
/// A pure value: it is told who did what, and when. It keeps a bounded number of names, for a bounded time.
struct FreedNames<Former: Sendable>: Sendable {
    /// What is remembered of one name.
    struct Entry: Sendable {
        /// Stands for the name and its directory, and tells nothing of either.
        let tag: [UInt8]
        let process: ProcessIdentity
        /// The last moment at which it can be taken.
        let deadline: Duration
        let former: Former
        /// What `former` needs, in bytes.
        let weight: Int
    }

    /// How long a name can be taken again.
    static var lifetime: Duration { .seconds(10) }

    /// The most names, and the most bytes of all together; the oldest go first.
    let countLimit: Int
    let weightLimit: Int
    /// In the order in which they were freed.
    private var entries: [Entry] = []

    init(countLimit: Int = 64, weightLimit: Int = 512 << 10) {
        self.countLimit = countLimit
        self.weightLimit = weightLimit
    }

    var count: Int { entries.count }

    func contains(_ tag: [UInt8]) -> Bool { entries.contains { $0.tag == tag } }

    /// A process has freed a name.
    mutating func free(
        _ tag: [UInt8], by process: ProcessIdentity, leaving former: Former, weight: Int, at now: Duration
    ) {
        putBack(
            Entry(tag: tag, process: process, deadline: now + Self.lifetime, former: former, weight: weight), at: now)
    }

    /// A name has been taken: what it stood for, if the same process had freed it, and not too long ago.
    ///
    /// Whoever takes it, nobody else can any more.
    mutating func take(_ tag: [UInt8], by process: ProcessIdentity?, at now: Duration) -> Entry? {
        removeExpired(at: now)
        guard let index = entries.firstIndex(where: { $0.tag == tag }) else { return nil }
        let entry = entries.remove(at: index)
        return entry.process == process ? entry : nil
    }

    /// Taking it has come to nothing: the name is free again, until the same moment.
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

    /// Whatever the name stood for, it does no more.
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
