extension KeychainStore {
    /// Returns the number of items of all classes. After the first unlock it is read from the header, without reading
    /// the items (contract, S5).
    package func itemCount() throws(KeychainFault) -> Int {
        guard keys.state.isAfterFirstUnlock,
            let count = try nilIfDamaged({ () throws(KeychainFault) in try committedItemCount() })
        else { return try countedItems() }
        return count
    }

    private func committedItemCount() throws(KeychainFault) -> Int {
        try keys.ledger.read(store) { (reader, header) throws(KeychainFault) in
            let others = try reader.directoryCount() + reader.pastCount() + reader.itemKeyCount()
            return Int(clamping: max(0, header.sums.rows.count - Int64(others)))
        }
    }

    /// Counts the items by reading every row.
    func countedItems() throws(KeychainFault) -> Int {
        try store.read { (reader) throws(KeychainFault) in try reader.itemCount() }
    }

    /// Returns the number of items of another device, which can be opened only there (contract, L6).
    ///
    /// Reads nothing in a store that no other device has unlocked.
    package func foreignItemCount() throws(KeychainFault) -> Int {
        let foreign = Set(keys.foreignGenerations().map { KeyGeneration($0.protection, $0.generation) })
        guard !foreign.isEmpty else { return 0 }
        let counts = try store.read { (reader) throws(KeychainFault) in try reader.itemCounts(of: foreign) }
        return counts.values.reduce(0, +)
    }
}

extension RecordReader {
    /// Returns the number of rows that an unlock reads.
    func keyRowCount() throws(KeychainFault) -> Int {
        try 1 + slots().count + devices().count + classKeys().count + userKeys().count
    }
}
