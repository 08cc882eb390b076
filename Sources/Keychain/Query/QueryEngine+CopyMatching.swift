extension QueryEngine {
    /// SecItemCopyMatching: what is asked for of the items that match, in the order in which they were made.
    ///
    /// - Throws: `itemNotFound` if there is none, `interactionNotAllowed` if one that is locked may match; else as
    ///   reference 3.14 says.
    package func copyMatching(
        _ dictionary: QueryDictionary, by client: QueryClient
    ) throws(SecurityStatus) -> QueryResult {
        var entries: [QueryEntry] = []
        let isList = try copyMatching(dictionary, by: client) { entries.append($0) }
        guard let first = entries.first else { return .none }
        return isList ? .list(entries) : .one(first)
    }

    /// The same, entry by entry: names and attributes of what was found need not be in memory together (contract, H2).
    ///
    /// - Parameter body: gets each entry as it is found. What it has got is void if a later one ends the call.
    /// - Returns: whether the result is an array, also of a single entry; without any entry there is no result.
    package func copyMatching(
        _ dictionary: QueryDictionary, by client: QueryClient, each body: (QueryEntry) throws(KeychainError) -> Void
    ) throws(SecurityStatus) -> Bool {
        let query = try ItemQuery(dictionary, for: .copyMatching, by: client)
        try SecurityStatus.translating { () throws(KeychainError) in try copyMatching(query, body) }
        return query.limit != .one
    }

    private func copyMatching(
        _ query: ItemQuery, _ body: (QueryEntry) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        var count = 0
        guard query.limit.maximum > 0 else { throw .itemNotFound }
        try forEachMatch(query) { (match) throws(KeychainError) in
            guard let (match, secret) = try completed(match, for: query) else { return true }
            count += 1
            if let entry = entry(match, secret: secret, query.returns) { try body(entry) }
            return count < query.limit.maximum
        }
        guard count > 0 else { throw .itemNotFound }
    }

    /// Calls `body` for each readable match until it returns false.
    func forEachMatch(
        _ query: ItemQuery, _ body: (ItemMatch) throws(KeychainError) -> Bool
    ) throws(KeychainError) {
        var search = search(query)
        try search.run { (found) throws(KeychainError) in
            switch found {
            case .match(let match): return try body(match)
            case .damaged: return true
            case .foreign: throw .interactionNotAllowed
            }
        }
    }

    /// A match with its secret, if that is asked for, both of one moment; nil if by now it is none any more.
    private func completed(
        _ match: ItemMatch, for query: ItemQuery
    ) throws(KeychainError) -> (ItemMatch, SealedSecret?)? {
        guard query.returns.contains(.data) else { return (match, nil) }
        guard let (item, secret) = try keychain.itemWithSecret(id: match.item.id) else { return nil }
        guard item.version != match.item.version else { return (match, secret) }
        var search = search(query)
        return try search.match(item).map { ($0, secret) }
    }

    /// What is given of an item. Whoever gets its persistent reference will come back with it.
    func entry(_ match: ItemMatch, secret: SealedSecret?, _ returns: ReturnKeys) -> QueryEntry? {
        if returns.contains(.persistentReference) {
            hints.note(match.item.persistentReference, match.item.id)
        }
        return QueryEntry(match, secret: secret, returns)
    }
}
