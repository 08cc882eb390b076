import KeychainRPC

extension Keychain {
    /// Returns the matching items in the order of their creation, each read when the cursor reaches it.
    ///
    /// The cursor stores only their references, regardless of their number. No match is not an error.
    ///
    /// - Throws: ``KeychainError/locked`` if an item that may match is locked.
    public func items(matching filter: ItemFilter) throws(KeychainError) -> ItemCursor {
        var query = filter.query
        query["r_PersistentRef"] = .boolean(true)
        query["m_Limit"] = .string("m_LimitAll")
        var references: [ItemReference] = []
        do throws(KeychainError) {
            try call(.copyMatching, query) { entry, _ in
                if case .data(let bytes) = entry { references.append(ItemReference(bytes: bytes)) }
            }
        } catch .itemNotFound {}
        return ItemCursor(keychain: self, references: references)
    }
}

/// The items that a search has found. Each is read when the cursor reaches it.
public struct ItemCursor: Sendable {
    private let keychain: Keychain
    /// The references of all found items, including those that have been read.
    public let references: [ItemReference]
    private var position = 0

    init(keychain: Keychain, references: [ItemReference]) {
        self.keychain = keychain
        self.references = references
    }

    /// Returns the next item that still exists, or nil at the end.
    public mutating func next() throws(KeychainError) -> Item? {
        while position < references.count {
            let reference = references[position]
            position += 1
            do throws(KeychainError) {
                return try keychain.item(where: ["v_PersistentRef": .data(reference.bytes)])
            } catch .itemNotFound {}
        }
        return nil
    }

    /// Returns all remaining items.
    public mutating func rest() throws(KeychainError) -> [Item] {
        var items: [Item] = []
        while let item = try next() { items.append(item) }
        return items
    }
}
