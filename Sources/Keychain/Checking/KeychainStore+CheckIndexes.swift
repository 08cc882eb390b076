extension KeychainStore {
    /// Adds the intact rows that an index misses to the report, and counts those that share a name.
    func nameUnindexedRows(_ report: inout CheckReport) throws(KeychainFault) {
        let damaged = report.namedRows
        for id in report.indexes.directories where !damaged.contains(id) {
            let path = try self.path(ofDirectory: id)
            report.addUnindexed(.unindexedDirectory, id, path.text, isNamed: path.isWhole)
        }
        for id in report.indexes.items where !damaged.contains(id) {
            let path = try self.path(ofItem: id)
            report.addUnindexed(.unindexedItem, id, path.text, isNamed: path.isWhole)
        }
        guard !report.indexes.areConsistent else { return }
        report.sharedNames =
            try nilIfDamaged { () throws(KeychainFault) in
                try store.read { (reader) throws(KeychainFault) in
                    let shared = try reader.rowsOfSharedTags(.directory) + reader.rowsOfSharedTags(.item)
                    return shared.reduce(0) { $0 + $1.count - 1 }
                }
            } ?? 0
    }

    private func path(ofItem id: RowID) throws(KeychainFault) -> (text: String, isWhole: Bool) {
        let item = try unlessUnreadable { () throws(KeychainFault) in try self.item(id: id) }
        guard let item else { return ("", false) }
        let directory = try path(ofDirectory: item.directory)
        let name = String(decoding: CanonicalName(account: item.account).bytes, as: UTF8.self)
        return (directory.text + name, directory.isWhole)
    }

    /// Builds a path by following the parents by row number, without an index. The path is incomplete if a directory in
    /// it cannot be opened.
    private func path(ofDirectory id: RowID) throws(KeychainFault) -> (text: String, isWhole: Bool) {
        var (text, next) = ("", id)
        // At most a group, a container and a service.
        for _ in 0..<3 where next != .none {
            let row = next
            let found = try unlessUnreadable { () throws(KeychainFault) in try self.directory(id: row) }
            guard let directory = found else { return ("?/" + text, false) }
            text = directory.pathComponent + text
            next = directory.parent
        }
        return (text, true)
    }
}
