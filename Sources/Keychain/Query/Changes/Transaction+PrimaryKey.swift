extension Transaction {
    /// Returns the directory of a primary key. Creates it, its container and its group if necessary, with the
    /// attributes `file` except for the inodes.
    func directory(of primaryKey: ItemPrimaryKey, file: PosixAttributes) throws(KeychainFault) -> Directory {
        let container = try container(primaryKey.container, file: file)
        let name = CanonicalName(service: primaryKey.service)
        if let directory = try directory(named: name, in: primaryKey.container) { return directory }
        let directory = try addDirectory(.service(primaryKey.service), in: container.id, file: file)
        try touchDirectory(container.id)
        return directory
    }

    /// Requires that a name is free, or belongs to `row`. Deletes a damaged item with that name (reference 8.1/12).
    ///
    /// - Returns: The row of the deleted item.
    /// - Throws: `duplicateItem`; `interactionNotAllowed` if the item with the name is locked or another device's.
    func freeName(_ name: CanonicalName, in directory: RowID, for row: RowID) throws(KeychainFault) -> RowID? {
        let tag = try keychain.keys.itemTag(directory: directory, name: name)
        guard let record = try writer.item(tag: tag, always: false), record.id != row else { return nil }
        guard try isDamaged(record) else { throw .duplicateItem }
        try deleteItem(record.id)
        return record.id
    }

    private func isDamaged(_ record: ItemRecord) throws(KeychainFault) -> Bool {
        do throws(KeychainFault) {
            _ = try keychain.itemEnvelope.open(record)
            return false
        } catch .decode {
            return true
        }
    }

    /// Returns the present match of a row; nil if the row was deleted, is damaged, or no longer matches the query.
    func match(_ row: RowID, _ query: ItemQuery) throws(KeychainFault) -> ItemMatch? {
        do throws(KeychainFault) {
            guard let item = try item(id: row), let directory = try directory(id: item.directory) else { return nil }
            return query.match(item, in: directory, try keychain.containerKey(directory.parent, writer))
        } catch .decode {
            return nil
        }
    }
}
