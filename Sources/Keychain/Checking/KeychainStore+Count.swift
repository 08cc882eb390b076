extension KeychainStore {
    /// How many items the store holds, whatever their class: from the first unlock on what its header says, which no look at
    /// the items is needed for (contract, S5).
    package func itemCount() throws(KeychainFault) -> Int {
        guard keys.state.isAfterFirstUnlock,
            let count = try nilIfDamaged({ () throws(KeychainFault) in try committedItemCount() })
        else { return try countedItems() }
        return count
    }

    private func committedItemCount() throws(KeychainFault) -> Int {
        let digest = try keys.ledger.digest()
        return try store.read { (reader) throws(KeychainFault) in
            let rows = try digest.header(of: reader.store()).rows.count
            let others = try reader.keyRowCount() + reader.directoryCount()
            return Int(clamping: max(0, rows - Int64(others)))
        }
    }

    /// Looks at every item.
    func countedItems() throws(KeychainFault) -> Int {
        try store.read { (reader) throws(KeychainFault) in try reader.itemCount() }
    }

    /// How many items are bound to another device, and so to be opened nowhere but there (contract, L6).
    ///
    /// Costs nothing in a store that no other device has ever unlocked.
    package func foreignItemCount() throws(KeychainFault) -> Int {
        let foreign = Set(keys.foreignGenerations().map { KeyGeneration($0.protection, $0.generation) })
        guard !foreign.isEmpty else { return 0 }
        let counts = try store.read { (reader) throws(KeychainFault) in try reader.itemCounts(of: foreign) }
        return counts.values.reduce(0, +)
    }
}

extension RecordReader {
    /// The rows that are neither an item's nor a directory's.
    func keyRowCount() throws(KeychainFault) -> Int {
        try 1 + slots().count + devices().count + classKeys().count + userKeys().count
    }
}
