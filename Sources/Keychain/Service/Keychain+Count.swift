extension Keychain {
    /// How many items the store holds, whatever their class: from the first unlock on what its header says, which no look at
    /// the items is needed for (contract, S5).
    package func itemCount() throws(KeychainError) -> Int {
        guard keys.state.isAfterFirstUnlock,
            let count = try unlessDamaged({ () throws(KeychainError) in try committedItemCount() })
        else { return try countedItems() }
        return count
    }

    private func committedItemCount() throws(KeychainError) -> Int {
        let digest = try keys.ledger.digest()
        return try store.read { (reader) throws(KeychainError) in
            let rows = try digest.header(of: reader.store()).rows.count
            let others = try reader.keyRowCount() + reader.directoryCount()
            return Int(clamping: max(0, rows - Int64(others)))
        }
    }

    /// Looks at every item.
    func countedItems() throws(KeychainError) -> Int {
        try store.read { (reader) throws(KeychainError) in try reader.itemCount() }
    }

    /// How many items are bound to another device, and so to be opened nowhere but there (contract, L6).
    ///
    /// Costs nothing in a store that no other device has ever unlocked.
    package func foreignItemCount() throws(KeychainError) -> Int {
        let foreign = Set(keys.foreignGenerations().map { KeyGeneration($0.protection, $0.generation) })
        guard !foreign.isEmpty else { return 0 }
        let counts = try store.read { (reader) throws(KeychainError) in try reader.itemCounts(of: foreign) }
        return counts.values.reduce(0, +)
    }
}

extension RecordReader {
    /// The rows that are neither an item's nor a directory's.
    func keyRowCount() throws(KeychainError) -> Int {
        try 1 + slots().count + devices().count + classKeys().count + userKeys().count
    }
}
