extension StoreSums {
    /// Returns the sums of a store under the keys of a new user key. A difference between rows and sums stays: a rotation
    /// never makes a damaged store look intact.
    ///
    /// Reads all rows without their secrets. Malformed rows are left out of both sums.
    ///
    /// - Throws: `decode` if the rows of keys differ from their sum, and for a malformed page.
    func rotated(
        from old: RowDigest, to new: RowDigest, _ reader: any RecordReader
    ) throws(KeychainFault) -> StoreSums {
        let records = try KeySnapshot(reader)
        guard !records.isDamaged, try old.sum(records) == keys else { throw .decode }
        var (before, after) = (DigestSum(), DigestSum())
        try reader.forEachReadableDirectory { (row) throws(KeychainFault) in
            before += try old.sum(row)
            after += try new.sum(row)
        }
        try reader.forEachReadableItem { (row) throws(KeychainFault) in
            before += try old.sum(row)
            after += try new.sum(row)
        }
        try reader.forEachReadablePast { (row) throws(KeychainFault) in
            before += try old.sum(row)
            after += try new.sum(row)
        }
        try reader.forEachReadableItemKey { (row) throws(KeychainFault) in
            before += try old.sum(row)
            after += try new.sum(row)
        }
        var sums = StoreSums()
        sums.keys = try new.sum(records)
        sums.rows = after
        sums.rows += rows - before
        return sums
    }
}
