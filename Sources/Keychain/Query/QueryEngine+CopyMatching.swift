extension QueryEngine {
    /// SecItemCopyMatching: returns the requested result of the matching items, in the order of their creation.
    ///
    /// - Throws: `itemNotFound` if no item matches; `interactionNotAllowed` if a locked item may match; the errors of
    ///   reference 3.14.
    package func copyMatching(
        _ dictionary: QueryDictionary, by client: QueryClient
    ) throws(SecurityStatus) -> QueryResult {
        var cursor = try matches(of: dictionary, by: client)
        var entries: [QueryEntry] = []
        while let entry = try cursor.next() { entries.append(entry) }
        guard let first = entries.first else { return .none }
        return cursor.isList ? .list(entries) : .one(first)
    }

    /// SecItemCopyMatching, entry by entry, so that names and attributes of all results need not be in memory together
    /// (contract, H2).
    ///
    /// - Throws: The errors of an invalid dictionary. The cursor throws for missing and locked items.
    package func matches(
        of dictionary: QueryDictionary, by client: QueryClient
    ) throws(SecurityStatus) -> QueryCursor {
        QueryCursor(try ItemQuery(dictionary, for: .copyMatching, by: client), engine: self)
    }

    /// Returns a match with its secret, if that is requested, both of one snapshot; nil if it no longer matches.
    func completed(
        _ match: ItemMatch, for query: ItemQuery
    ) throws(KeychainFault) -> (match: ItemMatch, secret: SealedSecret?)? {
        guard query.returns.contains(.data) else { return (match, nil) }
        guard let (item, secret) = try keychain.itemWithSecret(id: match.item.id) else { return nil }
        guard item.version != match.item.version else { return (match, secret) }
        var search = search(query)
        return try search.match(item).map { ($0, secret) }
    }

    /// Returns the result for an item. Its persistent reference is cached, because the caller is likely to use it.
    func entry(_ match: ItemMatch, secret: SealedSecret?, _ returns: ReturnKeys) -> QueryEntry? {
        if returns.contains(.persistentReference) {
            hints.note(match.item.persistentReference, match.item.id)
        }
        return QueryEntry(match, secret: secret, returns)
    }
}
