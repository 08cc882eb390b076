/// Builds wrong indexes anew from the rows, which alone are verified.
///
/// No row is deleted but the second one of a container, whose directories move to the first. Of several items or directories of
/// one name the last changed one keeps it; the others get a free name next to it (`name~2`).
package struct IndexRepair {
    /// What came of it.
    package struct Outcome: Hashable, Sendable {
        package internal(set) var renamedItems = 0
        package internal(set) var renamedDirectories = 0
        /// Why the indexes are still wrong; nil if they are what the rows say.
        package internal(set) var failure: KeychainError?

        package var isComplete: Bool { failure == nil }
    }

    let keychain: Keychain

    /// An index entry takes less, in bytes; a row has two to five.
    private static let entryRoom = 128

    /// In one transaction.
    ///
    /// - Parameter available: how much room there is on the disk, in bytes; nil if that cannot be told.
    func run(_ available: () -> UInt64?) -> Outcome {
        var outcome = Outcome()
        do throws(KeychainError) {
            guard !keychain.isReadOnly else { throw .readOnly }
            guard try hasRoom(available) else { throw .diskFull }
            outcome = try keychain.change { (change) throws(KeychainError) in try change.rebuildIndexes() }
        } catch {
            // Where several rows that cannot be opened have one name, nobody can give them others.
            outcome.failure = error == .duplicateItem ? .decode : error
        }
        return outcome
    }

    /// All entries go through the log.
    private func hasRoom(_ available: () -> UInt64?) throws(KeychainError) -> Bool {
        let rows = try keychain.store.read { (reader) throws(KeychainError) in
            try reader.itemCount() + reader.directoryCount()
        }
        return keychain.hasRoom(for: rows * Self.entryRoom, longest: 0) { available() ?? .max }
    }
}
