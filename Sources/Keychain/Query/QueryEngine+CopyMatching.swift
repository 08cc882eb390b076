extension QueryEngine {
    /// SecItemCopyMatching: what is asked for of the items that match, in the order in which they were made.
    ///
    /// - Throws: `itemNotFound` if there is none, `interactionNotAllowed` if one that is locked may match; else as
    ///   reference 3.14 says.
    package func copyMatching(
        _ dictionary: QueryDictionary, by client: QueryClient
    ) throws(SecurityStatus) -> QueryResult {
        let query = try ItemQuery(dictionary, for: .copyMatching, by: client)
        return try SecurityStatus.translating { () throws(KeychainError) in try copyMatching(query) }
    }

    private func copyMatching(_ query: ItemQuery) throws(KeychainError) -> QueryResult {
        var entries: [QueryEntry] = []
        var count = 0
        guard query.limit.maximum > 0 else { throw .itemNotFound }
        try forEachMatch(query) { (match) throws(KeychainError) in
            guard let match = try completed(match, for: query) else { return true }
            count += 1
            if let entry = entry(match.match, secret: match.secret, query.returns) { entries.append(entry) }
            return count < query.limit.maximum
        }
        guard count > 0 else { throw .itemNotFound }
        guard let first = entries.first else { return .none }
        return query.limit == .one ? .one(first) : .list(entries)
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
    ) throws(KeychainError) -> (match: ItemMatch, secret: SealedSecret?)? {
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
