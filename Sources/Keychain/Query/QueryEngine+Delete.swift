extension QueryEngine {
    /// SecItemDelete: deletes all matching items in one transaction.
    ///
    /// Deletes damaged items as well if the query identifies them.
    ///
    /// - Throws: `itemNotFound`; `interactionNotAllowed` if a locked item may match; the errors of reference 3.14.
    package func delete(
        _ dictionary: QueryDictionary, by client: QueryClient
    ) throws(SecurityStatus) -> [ItemChange] {
        let query = try ItemQuery(dictionary, for: .delete, by: client)
        return try SecurityStatus.translating { () throws(KeychainFault) in
            do throws(KeychainFault) {
                return try delete(query)
            } catch .diskFull where keychain.freesSpace() {
                // A deletion frees space: retried once, after the log has been truncated.
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
