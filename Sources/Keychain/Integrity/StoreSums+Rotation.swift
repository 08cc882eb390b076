extension StoreSums {
    /// Returns the sums of a store under the keys of a new user key. A difference between rows and sums stays: a rotation
    /// never makes a damaged store look intact.
    ///
    /// Malformed rows are left out of both sums.
    ///
    /// - Throws: `decode` if the rows of keys differ from their sum, and for a malformed page.
    func rotated(
        from old: RowDigest, to new: RowDigest, _ reader: any RecordReader
    ) throws(KeychainFault) -> StoreSums {
        let records = try KeySnapshot(reader)
        guard !records.isDamaged, try old.sum(records) == keys else { throw .decode }
        let found = try reader.rowSums(by: [old, new])
        var sums = StoreSums()
        sums.keys = try new.sum(records)
        sums.rows = found[1]
        sums.rows += rows - found[0]
        return sums
    }
}
