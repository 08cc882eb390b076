/// What SecItemCopyMatching finds, item by item: each is looked for when it is asked for.
///
/// A plain value; holds the query and sealed rows. Whoever keeps one while the keychain is locked keeps the query's names.
package struct QueryCursor: Sendable {
    private let engine: QueryEngine
    private var search: ItemSearch
    /// Matches so far, also those of which nothing is given.
    private var count = 0
    /// Whether there is nothing more to come.
    package private(set) var hasEnded = false

    init(_ query: ItemQuery, engine: QueryEngine) {
        self.engine = engine
        search = engine.search(query)
    }

    private var query: ItemQuery { search.query }

    /// Whether the result is an array, also of a single entry; without any entry there is no result.
    package var isList: Bool { query.limit != .one }

    /// Whether it costs a few look-ups, whatever the keychain holds: the whole key of an item is named, and its group.
    package var isLookUp: Bool {
        let plan = QueryPlan(query)
        return plan.service != nil && plan.account != nil && query.groups.map { $0.count <= 8 } ?? false
    }

    /// The next entry, nil at the end.
    ///
    /// - Throws: once, and what came before is void: `itemNotFound` at the end if there was no match,
    ///   `interactionNotAllowed` for one that is locked and may match; else as reference 3.14 says.
    package mutating func next() throws(SecurityStatus) -> QueryEntry? {
        var unlimited = Int.max
        return try next(lookingAt: &unlimited)
    }

    /// The same; nil also when it has looked at so many rows: whoever asks can serve others before he asks again.
    package mutating func next(lookingAt budget: inout Int) throws(SecurityStatus) -> QueryEntry? {
        guard !hasEnded else { return nil }
        do throws(KeychainFault) {
            while count < query.limit.maximum, let match = try search.nextMatch(lookingAt: &budget) {
                guard let (match, secret) = try engine.completed(match, for: query) else { continue }
                count += 1
                if let entry = engine.entry(match, secret: secret, query.returns) { return entry }
            }
            guard count == query.limit.maximum || search.hasEnded else { return nil }
            hasEnded = true
            guard count > 0 else { throw .itemNotFound }
            return nil
        } catch {
            hasEnded = true
            throw SecurityStatus(error)
        }
    }
}

extension ItemSearch {
    /// The next readable match; nil at the end, and when it has looked at so many rows.
    mutating func nextMatch(lookingAt budget: inout Int) throws(KeychainFault) -> ItemMatch? {
        while let found = try next(lookingAt: &budget) {
            switch found {
            case .match(let match): return match
            case .damaged: continue
            case .foreign: throw .interactionNotAllowed
            }
        }
        return nil
    }
}
