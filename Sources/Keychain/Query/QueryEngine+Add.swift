import SecretCrypto

extension QueryEngine {
    /// SecItemAdd, of a dictionary without kSecValueData.
    package func add(
        _ dictionary: QueryDictionary, by client: QueryClient
    ) throws(SecurityStatus) -> (result: QueryResult, changes: [ItemChange]) {
        try add(dictionary, secret: EmptySecret(), by: client)
    }

    /// SecItemAdd: adds one item, with missing groups and directories, in one transaction.
    ///
    /// - Parameter secret: The value of kSecValueData; ignored if the dictionary does not contain that key.
    /// - Throws: `duplicateItem`, with the existing item unchanged; `interactionNotAllowed` if its class is locked; the
    ///   errors of reference 3.14.
    package func add<Source: SecretSource & ~Copyable>(
        _ dictionary: QueryDictionary, secret: borrowing Source, by client: QueryClient
    ) throws(SecurityStatus) -> (result: QueryResult, changes: [ItemChange]) {
        let new = try NewItem(dictionary, by: client)
        try checkLength(of: secret, if: new.hasData)
        do throws(KeychainFault) {
            let (match, changes) = try add(new, secret: secret, by: client)
            return (result(of: match, new.returns), changes)
        } catch {
            throw SecurityStatus(error)
        }
    }

    func checkLength<Source: SecretSource & ~Copyable>(
        of secret: borrowing Source, if isGiven: Bool
    ) throws(SecurityStatus) {
        guard !isGiven || secret.secretCount <= valueLimit else { throw .dataTooLarge }
    }

    private func add<Source: SecretSource & ~Copyable>(
        _ new: NewItem, secret: borrowing Source, by client: QueryClient
    ) throws(KeychainFault) -> (ItemMatch, [ItemChange]) {
        try keychain.change { (transaction) throws(KeychainFault) in
            let now = keychain.now()
            let directory = try transaction.directory(of: new.primaryKey, file: client.directoryFacts(now))
            let item = try item(new, in: directory, by: client, now)
            let name = CanonicalName(account: new.primaryKey.account)
            let damaged = try transaction.freeName(name, in: directory.id, for: item.id)
            let saved = new.hasData ? try transaction.save(item, secret: secret) : try transaction.save(item)
            try transaction.touchDirectory(directory.id)
            var changes = damaged.map { [ItemChange(row: $0, old: new.primaryKey, new: nil)] } ?? []
            changes.append(ItemChange(row: saved.id, old: nil, new: new.primaryKey))
            return (
                ItemMatch(item: saved, service: new.primaryKey.service, container: new.primaryKey.container), changes
            )
        }
    }

    private func item(
        _ new: NewItem, in directory: Directory, by client: QueryClient, _ now: KeychainDate
    ) throws(KeychainFault) -> Item {
        let row = try keychain.reserveRowID()
        var item = Item(
            id: row, directory: directory.id, protection: new.protection ?? directory.defaultProtection,
            account: new.primaryKey.account, creationDate: now,
            persistentReference: SecureRandom.bytes(MetadataCodec.referenceCount),
            file: client.itemFacts(row, now))
        item.set(new.attributes)
        return item
    }

    /// Returns the requested result for the added item. The secret of an item that was added while locked cannot be
    /// returned; the call succeeds without it.
    private func result(of match: ItemMatch, _ returns: ReturnKeys) -> QueryResult {
        let secret = returns.contains(.data) ? try? keychain.itemWithSecret(id: match.item.id)?.secret : nil
        return entry(match, secret: secret, returns).map { .one($0) } ?? .none
    }
}
