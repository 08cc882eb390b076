extension Transaction {
    /// The directory of a place, made now if it is not there yet, with its container and group; `file` is what they get
    /// then, but for the inodes.
    func directory(of primaryKey: ItemPrimaryKey, file: PosixAttributes) throws(KeychainFault) -> Directory {
        let container = try container(primaryKey.container, file: file)
        let name = CanonicalName(service: primaryKey.service)
        if let directory = try directory(named: name, in: primaryKey.container) { return directory }
        let directory = try addDirectory(.service(primaryKey.service), in: container.id, file: file)
        try touchDirectory(container.id)
        return directory
    }

    /// Makes sure that a name is free, or is that of `row`. A damaged item that has it goes (reference 8.1/12).
    ///
    /// - Returns: the row of the item that had to go.
    /// - Throws: `duplicateItem`; `interactionNotAllowed` if who has the name is locked or another device's.
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

    /// The match that a row is now; nil for one that is gone, damaged, or not what the query asks for any more.
    func match(_ row: RowID, _ query: ItemQuery) throws(KeychainFault) -> ItemMatch? {
        do throws(KeychainFault) {
            guard let item = try item(id: row), let directory = try directory(id: item.directory) else { return nil }
            return query.match(item, in: directory, try keychain.containerKey(directory.parent, writer))
        } catch .decode {
            return nil
        }
    }
}
