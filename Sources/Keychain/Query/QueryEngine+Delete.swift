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
        return try SecurityStatus.translating { () throws(KeychainFault) in
            do throws(KeychainFault) {
                return try delete(query)
            } catch .diskFull where keychain.freesSpace() {
                // Whoever deletes makes room: once more, now that the log has given back its own.
                return try delete(query)
            }
        }
    }

    private func delete(_ query: ItemQuery) throws(KeychainFault) -> [ItemChange] {
        let rows = try rowsToDelete(query)
        return try keychain.change { (transaction) throws(KeychainFault) in
            var changes: [ItemChange] = []
            var directories: Set<RowID> = []
            for row in rows.readable {
                guard let match = try transaction.match(row, query) else { continue }
                try transaction.deleteItem(row)
                directories.insert(match.item.directory)
                changes.append(ItemChange(row: row, old: match.primaryKey, new: nil))
            }
            for row in rows.unreadable {
                try transaction.deleteItem(row)
                changes.append(ItemChange(row: row, old: nil, new: nil))
            }
            guard !changes.isEmpty else { throw .itemNotFound }
            for directory in directories.sorted() { try transaction.touchDirectory(directory) }
            return changes
        }
    }

    private func rowsToDelete(_ query: ItemQuery) throws(KeychainFault) -> (readable: [RowID], unreadable: [RowID]) {
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
