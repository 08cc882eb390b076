/// The position of rows in the tree, for `check`.
struct Place {
    private(set) var path = ""
    /// The item class of the container; nil in a damaged container or one that cannot be opened.
    private(set) var itemClass: StoredItemClass?

    /// A directory without a known name.
    var unknownDirectory: Place {
        var place = self
        place.path += "?/"
        return place
    }

    func directory(_ directory: Directory) -> Place {
        var place = self
        place.path += directory.pathComponent
        switch directory.key {
        case .container(let scope): place.itemClass = StoredItemClass(scope.itemClass)
        case .unsupported(let scope): place.itemClass = scope.itemClass
        case .group, .service: break
        }
        return place
    }
}

/// Checks of the fields and lookup tags of certificates and keys (R54).
extension KeychainStore {
    private static let keyPageSize = 256

    /// Returns the items that have item keys.
    func itemsWithKeys() throws(KeychainFault) -> Set<RowID> {
        var found: Set<RowID> = []
        var after: ItemKeyRecord.Position?
        repeat {
            let last = after
            let page = try nilIfDamaged { () throws(KeychainFault) in
                try store.read { (reader) throws(KeychainFault) in
                    try reader.itemKeys(after: last, limit: Self.keyPageSize)
                }
            }
            found.formUnion(page?.records.map(\.position.item) ?? [])
            after = page?.last
        } while after != nil
        return found
    }

    /// Requires that an item has only fields of its class, and the item keys that these determine.
    ///
    /// - Throws: `decode`.
    func checkKeys(of item: Item, in place: Place, _ report: CheckReport) throws(KeychainFault) {
        if let itemClass = place.itemClass {
            guard itemClass.permits(Set(item.keyFields.keys)) else { throw .decode }
        }
        guard !item.keyFields.isEmpty || report.itemsWithKeys.contains(item.id) else { return }
        // Without the lookup key nothing is known.
        guard keys.state.isAfterFirstUnlock else { return }
        let expected = try keys.itemKeys(of: item)
        let found = try store.read { (reader) throws(KeychainFault) in try reader.itemKeys(of: item.id) }
        guard found == expected else { throw .decode }
    }
}
