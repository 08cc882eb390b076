extension QueryEngine {
    /// SecItemCopyMatching: what is asked for of the items that match, in the order in which they were made.
    ///
    /// - Throws: `itemNotFound` if there is none, `interactionNotAllowed` if one that is locked may match; else as
    ///   reference 3.14 says.
    package func copyMatching(
        _ dictionary: QueryDictionary, by client: QueryClient
    ) throws(SecurityStatus) -> QueryResult {
        var cursor = try matches(of: dictionary, by: client)
        var entries: [QueryEntry] = []
        while let entry = try cursor.next() { entries.append(entry) }
        guard let first = entries.first else { return .none }
        return cursor.isList ? .list(entries) : .one(first)
    }

    /// The same, entry by entry: names and attributes of what was found need not be in memory together (contract, H2).
    ///
    /// - Throws: for a dictionary that is not valid; what is not found or locked the cursor says.
    package func matches(
        of dictionary: QueryDictionary, by client: QueryClient
    ) throws(SecurityStatus) -> QueryCursor {
        QueryCursor(try ItemQuery(dictionary, for: .copyMatching, by: client), engine: self)
    }

    /// A match with its secret, if that is asked for, both of one moment; nil if by now it is none any more.
    func completed(
        _ match: ItemMatch, for query: ItemQuery
    ) throws(KeychainFault) -> (match: ItemMatch, secret: SealedSecret?)? {
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
