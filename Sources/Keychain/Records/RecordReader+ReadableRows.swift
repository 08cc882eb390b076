extension RecordReader {
    private static var pageSize: Int { 256 }

    /// Calls `body` with every directory, in the order of IDs, and skips malformed ones.
    func forEachReadableDirectory(
        _ body: (DirectoryRecord) throws(KeychainFault) -> Void
    ) throws(KeychainFault) {
        try forEachReadable(
            page: { (after, limit) throws(KeychainFault) in try directories(after: after, limit: limit) }, id: \.id,
            next: { (after) throws(KeychainFault) in try directoryIDs(after: after, limit: 1).first }, body)
    }

    /// Calls `body` with every item, in the order of IDs, and skips malformed ones.
    func forEachReadableItem(_ body: (ItemRecord) throws(KeychainFault) -> Void) throws(KeychainFault) {
        try forEachReadable(
            page: { (after, limit) throws(KeychainFault) in try items(after: after, limit: limit) }, id: \.id,
            next: { (after) throws(KeychainFault) in try itemIDs(after: after, limit: 1).first }, body)
    }

    /// Calls `body` with every past value, in the order of IDs, and skips malformed ones.
    func forEachReadablePast(_ body: (PastRecord) throws(KeychainFault) -> Void) throws(KeychainFault) {
        try forEachReadable(
            page: { (after, limit) throws(KeychainFault) in try pastValues(after: after, limit: limit) }, id: \.id,
            next: { (after) throws(KeychainFault) in try pastIDs(after: after, limit: 1).first }, body)
    }

    /// Calls `body` with every item key, in the order of items and kinds, and skips malformed ones.
    func forEachReadableItemKey(_ body: (ItemKeyRecord) throws(KeychainFault) -> Void) throws(KeychainFault) {
        var after: ItemKeyRecord.Position?
        repeat {
            let page = try itemKeys(after: after, limit: Self.pageSize)
            for key in page.records { try body(key) }
            after = page.last
        } while after != nil
    }

    /// After rows of which one is malformed, reads them one by one.
    ///
    /// - Throws: `decode` for a page that SQLite reports as malformed: after that, SQLite commits nothing in the same
    ///   transaction.
    private func forEachReadable<Row>(
        page: (RowID, Int) throws(KeychainFault) -> [Row], id: (Row) -> RowID,
        next: (RowID) throws(KeychainFault) -> RowID?, _ body: (Row) throws(KeychainFault) -> Void
    ) throws(KeychainFault) {
        var (after, single) = (RowID(rawValue: .min), 0)
        while true {
            let limit = single > 0 ? 1 : Self.pageSize
            if let rows = try nilIfDamaged({ () throws(KeychainFault) in try page(after, limit) }) {
                for row in rows { try body(row) }
                guard rows.count == limit, let last = rows.last else { return }
                after = id(last)
            } else if single == 0 {
                single = Self.pageSize + 1
            } else {
                guard let malformed = try next(after) else { return }
                after = malformed
            }
            single = max(0, single - 1)
        }
    }
}
