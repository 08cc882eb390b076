/// The operations within one transaction of a keychain. Reads see its previous changes.
package struct Transaction {
    let keychain: KeychainStore
    let writer: any RecordWriter

    // MARK: Items

    package func item(id: RowID) throws(KeychainFault) -> Item? {
        try writer.item(id: id).map { (record) throws(KeychainFault) in try keychain.itemEnvelope.open(record) }
    }

    package func item(named name: CanonicalName, in directory: RowID) throws(KeychainFault) -> Item? {
        let tag = try keychain.keys.itemTag(directory: directory, name: name)
        return try writer.item(tag: tag, always: false).map { (record) throws(KeychainFault) in
            try keychain.itemEnvelope.open(record, named: name, in: directory)
        }
    }

    package func itemWithSecret(id: RowID) throws(KeychainFault) -> (item: Item, secret: SealedSecret?)? {
        guard let record = try writer.item(id: id) else { return nil }
        return try keychain.itemWithSecret(record, writer)
    }

    /// Adds or changes an item and its secret. Returns its present state.
    ///
    /// Updates its modification date.
    ///
    /// - Throws: ``KeychainFault/duplicateItem`` for a primary key of another item.
    package func save<Source: SecretSource & ~Copyable>(
        _ item: Item, secret: borrowing Source
    ) throws(KeychainFault) -> Item {
        let old = try writer.item(id: item.id)
        var item = try stamped(item, over: old)
        item.secretVersion = item.version
        item.secretCount = secret.secretCount
        let (record, ciphertext) = try keychain.itemEnvelope.seal(item, secret: secret)
        try writer.put(record, secret: ciphertext)
        try moveAlwaysName(from: old, to: record)
        return item
    }

    /// Adds an item without a secret, or changes one and keeps its secret.
    ///
    /// The secret is resealed only if its directory or class has changed, or if there are newer keys: data written
    /// after a slot was removed must not be sealed under keys that the holder of that slot knows (contract, L5).
    package func save(_ item: Item) throws(KeychainFault) -> Item {
        guard let old = try writer.item(id: item.id) else {
            let item = try stamped(item, over: nil)
            let record = try keychain.itemEnvelope.seal(item, keeping: nil)
            try writer.put(record, secret: [])
            try moveAlwaysName(from: nil, to: record)
            return item
        }
        let saved = try put(stamped(item, over: old), keepingSecretOf: old)
        try moveAlwaysName(from: old, to: writer.item(id: saved.id))
        return saved
    }

    /// Writes an item in place of `old`, with the secret of `old`.
    func put(_ item: Item, keepingSecretOf old: ItemRecord) throws(KeychainFault) -> Item {
        var item = item
        let stays = old.directory == item.directory && old.protection == item.protection && isUpToDate(old)
        if !stays, let secret = try keychain.itemWithSecret(old, writer).secret {
            item.secretVersion = item.version
            let (record, ciphertext) = try keychain.itemEnvelope.seal(item, secret: secret)
            try writer.put(record, secret: ciphertext)
        } else {
            try writer.put(try keychain.itemEnvelope.seal(item, keeping: stays ? old : nil), secret: nil)
        }
        return item
    }

    /// Whether a row is sealed under the newest keys of its class; also true if that cannot be determined now.
    private func isUpToDate(_ record: ItemRecord) -> Bool {
        guard let keys = try? keychain.keys.currentKeys(for: record.protection) else { return true }
        return record.generation == keys.generation
    }

    /// Replaces the secret of an item by that of another one, and deletes the other row.
    package func replace(_ item: Item, secretOf source: RowID) throws(KeychainFault) -> Item {
        guard let (_, secret) = try itemWithSecret(id: source) else { throw .itemNotFound }
        try deleteItem(source)
        guard let secret else { return try save(item, secret: EmptySecret()) }
        return try save(item, secret: secret)
    }

    /// Removes an item. A damaged or unavailable item can be removed by its row number as well.
    package func deleteItem(_ id: RowID) throws(KeychainFault) {
        let old = try nilIfDamaged { () throws(KeychainFault) in try writer.item(id: id) } ?? nil
        try writer.deleteItem(id)
        try moveAlwaysName(from: old, to: nil)
    }

    /// Exchanges the primary keys of two items and nothing else. Returns their present state.
    package func exchange(_ first: RowID, _ second: RowID) throws(KeychainFault) -> (Item, Item) {
        guard let a = try itemWithSecret(id: first), let b = try itemWithSecret(id: second) else {
            throw .itemNotFound
        }
        // Tags are unique, so one of the two must be removed first.
        try deleteItem(second)
        var itemA = a.item
        (itemA.directory, itemA.account) = (b.item.directory, b.item.account)
        let savedA = try save(itemA)
        var itemB = b.item
        (itemB.directory, itemB.account) = (a.item.directory, a.item.account)
        itemB.modificationDate = keychain.now().after(b.item.modificationDate)
        guard let secret = b.secret else { return (savedA, try save(itemB)) }
        return (savedA, try save(itemB, secret: secret))
    }

    /// Returns the next version of an item, which must have the version in the store, if it is in the store.
    private func stamped(_ item: Item, over old: ItemRecord?) throws(KeychainFault) -> Item {
        var item = item
        if let old {
            // A new item has an unused row number: a row with that number is a damage.
            guard old.version == item.version else { throw item.version == 0 ? .decode : .staleItem }
            item.modificationDate = keychain.now().after(item.modificationDate)
        }
        item.version += 1
        return item
    }
}

/// The secret of an item without one, when it replaces an item with one.
struct EmptySecret: SecretSource {
    let secretCount = 0

    func readSecret(at offset: Int, into output: inout MutableRawSpan) throws(KeychainFault) -> Int { 0 }
}
