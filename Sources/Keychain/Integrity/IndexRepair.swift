/// Rebuilds wrong indexes from the rows, because only rows are authenticated.
///
/// If several items or directories share a name, the most recently changed item or directory keeps it, and the others get a free name
/// (`name~2`). The only rows that are deleted are duplicate containers, after their directories were moved.
package struct IndexRepair {
    /// The result of a repair.
    package struct Outcome: Hashable, Sendable {
        package internal(set) var renamedItems = 0
        package internal(set) var renamedDirectories = 0
        /// The reason why the indexes are still wrong; nil if they agree with the rows.
        package internal(set) var failure: KeychainFault?

        package var isComplete: Bool { failure == nil }
    }

    let keychain: KeychainStore

    /// The log space for the index entries of one row, in bytes. A row has two to five entries of less than 32 bytes each.
    private static let bytesPerRow = 128

    /// Rebuilds all indexes in one transaction. Every row has just been verified.
    ///
    /// - Parameter available: The free space on the disk in bytes; nil if it is unknown.
    func run(_ available: () -> UInt64?) -> Outcome {
        var outcome = Outcome()
        do throws(KeychainFault) {
            guard !keychain.isReadOnly else { throw .readOnly }
            guard try hasSpace(available) else { throw .diskFull }
            // Rows that another program has changed since their verification may be damaged: they are verified again.
            try keychain.store.findExternalChanges()
            guard keychain.keys.verification.indexes.value == .rebuilding else { throw .decode }
            outcome = try keychain.change { (transaction) throws(KeychainFault) in try transaction.rebuildIndexes() }
        } catch {
            // Several rows that cannot be opened share a name, so they cannot be renamed.
            outcome.failure = error == .duplicateItem ? .decode : error
        }
        return outcome
    }

    /// Whether the disk has space for the rebuilt indexes, which are written to the log first.
    private func hasSpace(_ available: () -> UInt64?) throws(KeychainFault) -> Bool {
        let rows = try keychain.store.read { (reader) throws(KeychainFault) in
            try reader.itemCount() + reader.directoryCount() + reader.pastCount() + reader.itemKeyCount()
        }
        return keychain.hasSpace(for: rows * Self.bytesPerRow, longest: 0) { available() ?? .max }
    }
}
