import KeychainRPC

extension Keychain {
    /// Returns the secret of an item; empty for an item without one.
    ///
    /// - Throws: ``KeychainError/itemNotFound``, ``KeychainError/locked``, ``KeychainError/damaged``.
    public func secret(of key: ItemKey) throws(KeychainError) -> Secret {
        try secret(where: key.query(defaultGroup: defaultAccessGroup))
    }

    /// Returns the secret of an item, or nil if the item does not exist.
    public func secretIfPresent(of key: ItemKey) throws(KeychainError) -> Secret? {
        do throws(KeychainError) {
            return try secret(of: key)
        } catch {
            guard error == .itemNotFound else { throw error }
            return nil
        }
    }

    /// Returns the secret of an item that a search has found.
    public func secret(of reference: ItemReference) throws(KeychainError) -> Secret {
        try secret(where: ["v_PersistentRef": .data(reference.bytes)])
    }

    /// Sets the secret and attributes of an item. Adds the item if it does not exist.
    public func set(
        _ secret: borrowing Secret, for key: ItemKey, attributes: ItemAttributes = ItemAttributes()
    ) throws(KeychainError) {
        var attempts = 3
        while true {
            do throws(KeychainError) {
                return try replace(secret, for: key, attributes: attributes)
            } catch .itemNotFound {}
            do throws(KeychainError) {
                return try add(secret, for: key, attributes: attributes)
            } catch .duplicateItem where attempts > 1 {
                // Another client added the item in the meantime.
                attempts -= 1
            }
        }
    }

    /// Adds an item.
    ///
    /// - Throws: ``KeychainError/duplicateItem`` if an item with that key exists; it is not modified.
    public func add(
        _ secret: borrowing Secret, for key: ItemKey, attributes: ItemAttributes = ItemAttributes()
    ) throws(KeychainError) {
        var query = key.query(defaultGroup: defaultAccessGroup).merging(attributes.list) { own, _ in own }
        query["v_Data"] = .secret(0)
        try call(.add, query, secret: secret.bytes)
    }

    /// Changes attributes of an item.
    ///
    /// - Throws: ``KeychainError/itemNotFound`` if the item does not exist.
    public func update(_ key: ItemKey, attributes: ItemAttributes) throws(KeychainError) {
        try call(.update, key.query(defaultGroup: defaultAccessGroup), to: attributes.list)
    }

    /// Removes an item. Returns false if it does not exist.
    @discardableResult public func remove(_ key: ItemKey) throws(KeychainError) -> Bool {
        do throws(KeychainError) {
            try call(.delete, key.query(defaultGroup: defaultAccessGroup))
            return true
        } catch .itemNotFound {
            return false
        }
    }

    /// Removes all matching items in one transaction. Returns false if no item matches.
    @discardableResult public func removeAll(matching filter: ItemFilter) throws(KeychainError) -> Bool {
        do throws(KeychainError) {
            try call(.delete, filter.query)
            return true
        } catch .itemNotFound {
            return false
        }
    }

    /// Returns an item without its secret.
    public func item(_ key: ItemKey) throws(KeychainError) -> Item {
        try item(where: key.query(defaultGroup: defaultAccessGroup))
    }

    func item(where query: [String: PropertyList]) throws(KeychainError) -> Item {
        var query = query
        query["r_Attributes"] = .boolean(true)
        query["r_PersistentRef"] = .boolean(true)
        var found: Item?
        try call(.copyMatching, query) { entry, _ in found = Item(entry) }
        guard let found else { throw .damaged }
        return found
    }

    private func replace(
        _ secret: borrowing Secret, for key: ItemKey, attributes: ItemAttributes
    ) throws(KeychainError) {
        var changes = attributes.list
        changes["v_Data"] = .secret(0)
        try call(.update, key.query(defaultGroup: defaultAccessGroup), to: changes, secret: secret.bytes)
    }
}
