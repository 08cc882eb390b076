extension QueryEngine {
    /// SecItemDelete: every item that matches, in one transaction, all or none.
    ///
    /// Damaged items go as well where the query tells that they are meant.
    ///
    /// - Throws: `itemNotFound`, `interactionNotAllowed` if one that is locked may match; else as reference 3.14 says.
    package func delete(
        _ dictionary: QueryDictionary, by client: QueryClient
    ) throws(SecurityStatus) -> [ItemChange] {
        let query = try ItemQuery(dictionary, for: .delete, by: client)
        return try SecurityStatus.translating { () throws(KeychainError) in
            do throws(KeychainError) {
                return try delete(query)
            } catch .diskFull where keychain.makesRoom() {
                // Whoever deletes makes room: once more, now that the log has given back its own.
                return try delete(query)
            }
        }
    }

    private func delete(_ query: ItemQuery) throws(KeychainError) -> [ItemChange] {
        let rows = try doomedRows(query)
        return try keychain.change { (change) throws(KeychainError) in
            var changes: [ItemChange] = []
            var directories: Set<RowID> = []
            for row in rows.readable {
                guard let match = try change.match(row, query) else { continue }
                try change.deleteItem(row)
                directories.insert(match.item.directory)
                changes.append(ItemChange(row: row, old: match.place, new: nil))
            }
            for row in rows.unreadable {
                try change.deleteItem(row)
                changes.append(ItemChange(row: row, old: nil, new: nil))
            }
            guard !changes.isEmpty else { throw .itemNotFound }
            for directory in directories.sorted() { try change.touchDirectory(directory) }
            return changes
        }
    }

    private func doomedRows(_ query: ItemQuery) throws(KeychainError) -> (readable: [RowID], unreadable: [RowID]) {
        var readable: [RowID] = []
        var unreadable: [RowID] = []
        var search = search(query)
        while let found = try search.next() {
            switch found {
            case .match(let match): readable.append(match.item.id)
            case .damaged(let row), .foreign(let row): unreadable.append(row)
            }
        }
        guard !readable.isEmpty || !unreadable.isEmpty else { throw .itemNotFound }
        return (readable, unreadable)
    }
}
