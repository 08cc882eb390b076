/// The results of SecItemCopyMatching, each of which is searched for when it is requested.
///
/// A plain value that contains the query and sealed rows. Retaining it while the keychain is locked retains the names
/// in the query.
package struct QueryCursor: Sendable {
    private let engine: QueryEngine
    private var search: ItemSearch
    /// The number of matches, including those without a result.
    private var count = 0
    /// Whether all entries have been returned.
    package private(set) var hasEnded = false

    init(_ query: ItemQuery, engine: QueryEngine) {
        self.engine = engine
        search = engine.search(query)
    }

    private var query: ItemQuery { search.query }

    /// Whether the result is an array, even of one entry. Without an entry there is no result.
    package var isList: Bool { query.limit != .one }

    /// Whether the search costs a few lookups, regardless of the size of the keychain: the query contains the complete
    /// primary key of an item, and its group.
    package var isLookUp: Bool {
        let plan = QueryPlan(query)
        return plan.service != nil && plan.account != nil && query.groups.map { $0.count <= 8 } ?? false
    }

    /// Returns the next entry; nil at the end.
    ///
    /// - Throws: Once, after which the preceding entries are invalid: `itemNotFound` at the end if there was no match;
    ///   `interactionNotAllowed` for a locked item that may match; the errors of reference 3.14.
    package mutating func next() throws(SecurityStatus) -> QueryEntry? {
        var unlimited = Int.max
        return try next(lookingAt: &unlimited)
    }

    /// Returns the next entry; nil at the end, or when `budget` rows have been examined, so that the caller can serve
    /// other requests before it continues.
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
    /// Returns the next readable match; nil at the end, or when `budget` rows have been examined.
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
