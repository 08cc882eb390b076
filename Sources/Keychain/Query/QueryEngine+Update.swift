extension QueryEngine {
    /// SecItemUpdate, of a dictionary without kSecValueData.
    package func update(
        _ dictionary: QueryDictionary, to attributes: QueryDictionary, by client: QueryClient
    ) throws(SecurityStatus) -> [ItemChange] {
        try update(dictionary, to: attributes, secret: EmptySecret(), by: client)
    }

    /// SecItemUpdate: changes all matching items in one transaction.
    ///
    /// - Parameter secret: The value of kSecValueData; ignored if `attributes` do not contain that key.
    /// - Throws: `itemNotFound`; `interactionNotAllowed` if a locked item may match; `duplicateItem` if another item
    ///   has a primary key that would result; the errors of reference 3.14.
    package func update<Source: SecretSource & ~Copyable>(
        _ dictionary: QueryDictionary, to attributes: QueryDictionary, secret: borrowing Source,
        by client: QueryClient
    ) throws(SecurityStatus) -> [ItemChange] {
        let query = try ItemQuery(dictionary, for: .update, by: client)
        let update = try ItemUpdate(attributes, of: query.itemClass, by: client)
        try checkLength(of: secret, if: update.hasData)
        do throws(KeychainFault) {
            return try apply(update, to: query, secret: secret, by: client)
        } catch {
            throw SecurityStatus(error)
        }
    }

    private func apply<Source: SecretSource & ~Copyable>(
        _ update: ItemUpdate, to query: ItemQuery, secret: borrowing Source, by client: QueryClient
    ) throws(KeychainFault) -> [ItemChange] {
        let rows = try rows(of: query)
        return try keychain.change { (transaction) throws(KeychainFault) in
            var changes: [ItemChange] = []
            for row in rows {
                guard let match = try transaction.match(row, query) else { continue }
                changes += try transaction.apply(update, to: match, secret: secret, client)
            }
            guard !changes.isEmpty else { throw .itemNotFound }
            return changes
        }
    }

    /// Returns the rows that match now. The transaction that changes them checks them again.
    private func rows(of query: ItemQuery) throws(KeychainFault) -> [RowID] {
        var rows: [RowID] = []
        var search = search(query)
        var unlimited = Int.max
        while let match = try search.nextMatch(lookingAt: &unlimited) { rows.append(match.item.id) }
        guard !rows.isEmpty else { throw .itemNotFound }
        return rows
    }
}

extension Transaction {
    /// Changes one item. Returns the resulting changes.
    fileprivate func apply<Source: SecretSource & ~Copyable>(
        _ update: ItemUpdate, to match: ItemMatch, secret: borrowing Source, _ client: QueryClient
    ) throws(KeychainFault) -> [ItemChange] {
        let (moved, primaryKey, changes) = try move(match, to: match.primaryKey.changed(by: update.attributes), client)
        var item = moved
        item.set(update.attributes)
        if case .date(let date)? = update.attributes.values[.creationDate] { item.creationDate = date }
        guard !primaryKey.container.isSynchronizable || item.accessControlFlags == 0 else { throw .param }
        if update.hasData {
            item.file.modificationTime = keychain.now()
            _ = try save(item, secret: secret)
        } else {
            _ = try save(item)
        }
        return changes
    }

    /// Returns an item with another primary key, which is not saved yet, after creating its directory and freeing its
    /// name.
    fileprivate func move(
        _ match: ItemMatch, to primaryKey: ItemPrimaryKey, _ client: QueryClient
    ) throws(KeychainFault) -> (item: Item, primaryKey: ItemPrimaryKey, changes: [ItemChange]) {
        var item = match.item
        var changes = [ItemChange(row: item.id, old: match.primaryKey, new: primaryKey)]
        item.account = primaryKey.account
        let stays =
            primaryKey.container == match.container
            && CanonicalName(service: primaryKey.service) == CanonicalName(service: match.service)
        if !stays {
            item.directory = try directory(of: primaryKey, file: client.directoryFacts(keychain.now())).id
        }
        let name = CanonicalName(account: primaryKey.account)
        guard !stays || name != CanonicalName(account: match.item.account) else { return (item, primaryKey, changes) }
        if let damaged = try freeName(name, in: item.directory, for: item.id) {
            changes.append(ItemChange(row: damaged, old: primaryKey, new: nil))
        }
        try touchDirectory(match.item.directory)
        if !stays { try touchDirectory(item.directory) }
        return (item, primaryKey, changes)
    }
}
