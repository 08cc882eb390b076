extension RecordReader {
    /// Returns the sum of all rows of directories, items, past values and item keys under each of these keys.
    ///
    /// Reads all rows without their secrets. Malformed rows are left out.
    ///
    /// - Throws: `decode` for a malformed page.
    func rowSums(by digests: [RowDigest]) throws(KeychainFault) -> [DigestSum] {
        var sums = digests.map { _ in DigestSum() }
        func add(_ sum: (RowDigest) throws(KeychainFault) -> DigestSum) throws(KeychainFault) {
            for (number, digest) in digests.enumerated() { sums[number] += try sum(digest) }
        }
        try forEachReadableDirectory { (row) throws(KeychainFault) in
            try add { (digest) throws(KeychainFault) in try digest.sum(row) }
        }
        try forEachReadableItem { (row) throws(KeychainFault) in
            try add { (digest) throws(KeychainFault) in try digest.sum(row) }
        }
        try forEachReadablePast { (row) throws(KeychainFault) in
            try add { (digest) throws(KeychainFault) in try digest.sum(row) }
        }
        try forEachReadableItemKey { (row) throws(KeychainFault) in
            try add { (digest) throws(KeychainFault) in try digest.sum(row) }
        }
        return sums
    }
}
