import KeychainRPC

extension Keychain {
    /// The items that match, in the order in which they were made, one after the other as they are asked for.
    ///
    /// What is kept of each is its reference, whatever their number. Throws ``KeychainError/locked`` if one that may match is
    /// locked; no match is no error.
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

/// Items that a search has found. Each is read when it is its turn.
public struct ItemCursor: Sendable {
    private let keychain: Keychain
    /// Of all that were found, also of those that have been read already.
    public let references: [ItemReference]
    private var position = 0

    init(keychain: Keychain, references: [ItemReference]) {
        self.keychain = keychain
        self.references = references
    }

    /// The next one that is still there; nil at the end.
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

    /// All that are left.
    public mutating func rest() throws(KeychainError) -> [Item] {
        var items: [Item] = []
        while let item = try next() { items.append(item) }
        return items
    }
}
