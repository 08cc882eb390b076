/// What is wrong with a keychain, and so what a repair would do: nothing is changed yet.
package struct RepairFindings: Sendable {
    let inspection: RowInspection
    let recovery: DirectoryRecovery
    /// Nil if the header does not open.
    let header: StoreHeader?
    /// Rows that are gone, older than they should be, or were never committed.
    let rowFault: IntegrityFault?

    /// Items that do not verify.
    package var damagedItems: [RowID] { inspection.damagedItems }
    /// Directories whose rows do not verify, be it that one of two names is as it was.
    package var damagedDirectories: [RowID] {
        (inspection.damagedDirectories + inspection.directories.filter { !$0.value.isComplete }.keys).sorted()
    }
    /// Directories that do not verify and that nothing lies in.
    package var removedDirectories: [RowID] { inspection.damagedDirectories.filter { recovery.directories[$0] == nil } }
    /// Directories that are lost or damaged, and known by what lies in them.
    package var restoredDirectories: [RowID] { recovery.restored }
    /// Directories whose place or name is lost, and where what lies in them will be found.
    package var displacedDirectories: [RowID] { recovery.displaced }
    /// Rows of keys that are not of the form of one, or stand in the place of one.
    package var damagedKeys: Int { inspection.damagedKeys }
    /// As many rows as were committed, but older or changed ones that verify all the same.
    package var areRowsReplaced: Bool {
        rowFault == .rowsReplaced && damagedItems.isEmpty && inspection.damagedDirectories.isEmpty
    }
    package var isHeaderDamaged: Bool { header == nil }
    /// Rows that were committed and are gone, at least so many; their contents are in no backup of this file's.
    package var missingRows: Int64 { header.map { max(0, $0.rows.count &- inspection.rowCount) } ?? 0 }
    /// Rows that were never committed or had been removed, at least so many.
    package var addedRows: Int64 { header.map { max(0, inspection.rowCount &- $0.rows.count) } ?? 0 }

    /// Whether there is nothing to repair; what the store's own structure is worth is another question.
    package var isConsistent: Bool {
        damagedItems.isEmpty && damagedDirectories.isEmpty && restoredDirectories.isEmpty
            && displacedDirectories.isEmpty && damagedKeys == 0 && !isHeaderDamaged && rowFault == nil
    }

    /// What stays: items, and how many of them nobody can verify now.
    package var items: Int { inspection.items.count }
    package var unverifiedItems: Int { inspection.unverifiedItems }
    package var directories: Int { recovery.directories.count }

    /// Where what lies in a directory will be found.
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
