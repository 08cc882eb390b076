/// The damage of a keychain, and so the effect of a repair. Nothing has been changed yet.
package struct RepairFindings: Sendable {
    let inspection: RowInspection
    let recovery: DirectoryRecovery
    /// The header; nil if it cannot be opened.
    let header: StoreHeader?
    /// Rows that are missing, older than they should be, or were never committed.
    let rowFault: IntegrityFault?

    /// The items that are not authentic.
    package var damagedItems: [RowID] { inspection.damagedItems }
    /// The past values that are not authentic.
    package var damagedPast: [RowID] { inspection.damagedPast }
    /// The directories that are not authentic, including those of which one of two names is.
    package var damagedDirectories: [RowID] {
        (inspection.damagedDirectories + inspection.directories.filter { !$0.value.isComplete }.keys).sorted()
    }
    /// The directories that are not authentic and are empty.
    package var removedDirectories: [RowID] { inspection.damagedDirectories.filter { recovery.directories[$0] == nil } }
    /// The directories whose position or name is lost.
    package var displacedDirectories: [RowID] { recovery.displaced }
    /// The number of rows of keys that are malformed or replace another one.
    package var damagedKeys: Int { inspection.damagedKeys }
    /// The number of items whose item keys are wrong, and of item keys without an item.
    package var wrongItemKeys: Int { inspection.wrongItemKeys }
    /// Whether the number of rows is right and all are authentic, but some are older or were changed.
    package var areRowsReplaced: Bool {
        rowFault == .rowsReplaced && damagedItems.isEmpty && damagedPast.isEmpty
            && inspection.damagedDirectories.isEmpty
    }
    package var isHeaderDamaged: Bool { header == nil }
    /// At least this number of committed rows is missing.
    package var missingRows: Int64 { header.map { max(0, $0.sums.count &- inspection.rowCount) } ?? 0 }
    /// At least this number of rows was never committed or had been removed.
    package var addedRows: Int64 { header.map { max(0, inspection.rowCount &- $0.sums.count) } ?? 0 }

    /// Whether there is nothing to repair, apart from the structure of the store.
    package var isConsistent: Bool {
        damagedItems.isEmpty && damagedPast.isEmpty && damagedDirectories.isEmpty && displacedDirectories.isEmpty
            && damagedKeys == 0 && wrongItemKeys == 0 && !isHeaderDamaged && rowFault == nil
    }

    /// The number of items that stay, including those that cannot be verified now.
    package var items: Int { inspection.items.count }
    package var unverifiedItems: Int { inspection.unverifiedItems }
    package var pastValues: Int { inspection.pastValues.count }
    package var directories: Int { recovery.directories.count }

    /// Returns the path of a directory's contents after the repair.
    package func path(of directory: RowID) -> String {
        var path = ""
        var next = directory
        while let found = recovery.directories[next], path.utf8.count < 1024 {
            path = found.pathComponent + path
            next = found.parent
        }
        return path
    }
}
