extension KeychainStore {
    private static let pageSize = 256

    /// Adds the damaged rows to the report that are in no listing: an index lacks them, or the damage moved them to another
    /// directory. The sums show that there are such rows, but not which ones. Does nothing for an intact keychain.
    func nameUnlistedRows(_ report: inout CheckReport) throws(KeychainFault) {
        guard report.rowFault != nil || !report.indexes.areConsistent else { return }
        let named = report.namedRows
        let directories = try damagedRows(
            { (reader, after) throws(KeychainFault) in try reader.directoryIDs(after: after, limit: Self.pageSize) },
            { (reader, id) throws(KeychainFault) in
                _ = try reader.directory(id: id).map { (record) throws(KeychainFault) in
                    try directoryEnvelope.open(record)
                }
            })
        let items = try damagedRows(
            { (reader, after) throws(KeychainFault) in try reader.itemIDs(after: after, limit: Self.pageSize) },
            { (reader, id) throws(KeychainFault) in
                _ = try reader.item(id: id).map { (record) throws(KeychainFault) in try itemEnvelope.open(record) }
            })
        for id in directories where !named.contains(id) { report.addUnlistedDirectory(id) }
        for id in items where !named.contains(id) { report.addUnlistedItem(id) }
    }

    /// Opens the rows of a table in the order of their numbers, without an index. Stops at a page that cannot be read.
    private func damagedRows(
        _ page: (any RecordReader, RowID) throws(KeychainFault) -> [RowID],
        _ open: (any RecordReader, RowID) throws(KeychainFault) -> Void
    ) throws(KeychainFault) -> [RowID] {
        var (damaged, after): ([RowID], RowID) = ([], RowID(rawValue: .min))
        while true {
            let last = after
            let found = try nilIfDamaged { () throws(KeychainFault) in
                try store.read { (reader) throws(KeychainFault) in
                    let rows = try page(reader, last)
                    for id in rows where try isDamaged(id, reader, open) { damaged.append(id) }
                    return rows
                }
            }
            guard let found, found.count == Self.pageSize, let end = found.last else { return damaged }
            after = end
        }
    }

    private func isDamaged(
        _ id: RowID, _ reader: any RecordReader, _ open: (any RecordReader, RowID) throws(KeychainFault) -> Void
    ) throws(KeychainFault) -> Bool {
        do throws(KeychainFault) {
            try open(reader, id)
        } catch .decode {
            return true
        } catch .interactionNotAllowed {
            // Locked, or another device's.
        }
        return false
    }
}
