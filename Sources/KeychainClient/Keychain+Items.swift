import KeychainRPC

extension Keychain {
    /// The secret of an item; an item without one has an empty one.
    ///
    /// - Throws: ``KeychainError/itemNotFound``, ``KeychainError/locked``, ``KeychainError/damaged``.
    public func secret(of key: ItemKey) throws(KeychainError) -> Secret {
        try secret(where: key.query(defaultGroup: defaultAccessGroup))
    }

    /// The same; nil if there is no such item.
    public func secretIfPresent(of key: ItemKey) throws(KeychainError) -> Secret? {
        do throws(KeychainError) {
            return try secret(of: key)
        } catch {
            guard error == .itemNotFound else { throw error }
            return nil
        }
    }

    /// The same of an item that was found before.
    public func secret(of reference: ItemReference) throws(KeychainError) -> Secret {
        try secret(where: ["v_PersistentRef": .data(reference.bytes)])
    }

    /// Sets an item's secret, and attributes; adds the item if there is none.
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
                // Somebody was faster.
                attempts -= 1
            }
        }
    }

    /// Adds an item.
    ///
    /// - Throws: ``KeychainError/duplicateItem`` if there is one of that key, which stays as it is.
    public func add(
        _ secret: borrowing Secret, for key: ItemKey, attributes: ItemAttributes = ItemAttributes()
    ) throws(KeychainError) {
        var query = key.query(defaultGroup: defaultAccessGroup).merging(attributes.list) { own, _ in own }
        query["v_Data"] = .secret(0)
        try call(.add, query, secret: secret.bytes)
    }

    /// Changes attributes of an item. Throws ``KeychainError/itemNotFound`` if there is none.
    public func update(_ key: ItemKey, attributes: ItemAttributes) throws(KeychainError) {
        try call(.update, key.query(defaultGroup: defaultAccessGroup), to: attributes.list)
    }

    /// Removes an item; false if there is none.
    @discardableResult public func remove(_ key: ItemKey) throws(KeychainError) -> Bool {
        do throws(KeychainError) {
            try call(.delete, key.query(defaultGroup: defaultAccessGroup))
            return true
        } catch .itemNotFound {
            return false
        }
    }

    /// Removes all items that match, at once or none; false if there is none.
    @discardableResult public func removeAll(matching filter: ItemFilter) throws(KeychainError) -> Bool {
        do throws(KeychainError) {
            try call(.delete, filter.query)
            return true
        } catch .itemNotFound {
            return false
        }
    }

    /// An item without its secret.
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
