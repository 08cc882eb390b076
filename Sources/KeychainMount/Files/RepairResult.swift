import Keychain

/// The result, or the plan, of `check --repair`.
package struct RepairResult: JSONText, Sendable {
    /// A directory whose name or position was lost, and the new path of its contents.
    package struct RecoveredDirectory: Codable, Sendable {
        package let row: Int64
        package let path: String
    }

    package let keychain: String
    /// Whether the keychain was repaired; false if there was nothing to repair, or the user has not confirmed.
    package var repaired = false
    /// The path of the complete copy of the damaged keychain.
    package var aside: String?
    /// The reason why this device could not save the state of the repaired keychain; nil if it is saved.
    package var stateFault: StateFault?
    /// The number of remaining items, and of those that cannot be verified now: another device's, or without a
    /// passphrase slot.
    package let items: Int
    package let unverifiedItems: Int
    package let directories: Int
    package let pastValues: Int
    /// The rows that are not authentic and were left out. Their names are unreadable.
    package let removedItems: [Int64]
    package let removedDirectories: [Int64]
    package let removedPastValues: [Int64]
    package let displacedDirectories: [RecoveredDirectory]
    /// The number of unreadable rows of keys.
    package let removedKeys: Int
    /// At least this number of committed rows is missing in the damaged file.
    package let missingRows: Int64
    /// At least this number of rows was never committed or had been deleted. They are authentic, so they stay.
    package let addedRows: Int64
    /// Whether some rows may be older than the last commit. They are authentic, so they stay.
    package let replacedRows: Bool
    /// The number of lookup tags of certificates and keys that are wrong or missing. They are computed again.
    package let wrongItemKeys: Int
    package let headerDamaged: Bool
    package let structureFaults: Int

    init(_ findings: RepairFindings, keychain: String, structureFaults: Int) {
        self.keychain = keychain
        items = findings.items
        unverifiedItems = findings.unverifiedItems
        directories = findings.directories
        pastValues = findings.pastValues
        removedPastValues = findings.damagedPast.map(\.rawValue)
        removedItems = findings.damagedItems.map(\.rawValue)
        removedDirectories = findings.removedDirectories.map(\.rawValue)
        displacedDirectories = findings.displacedDirectories.map { id in
            RecoveredDirectory(row: id.rawValue, path: findings.path(of: id))
        }
        removedKeys = findings.damagedKeys
        missingRows = findings.missingRows
        addedRows = findings.addedRows
        replacedRows = findings.areRowsReplaced
        wrongItemKeys = findings.wrongItemKeys
        headerDamaged = findings.isHeaderDamaged
        self.structureFaults = structureFaults
    }

    /// The text for users.
    package var text: String {
        var lines = ["Unchanged: \(Counted.items(items)) in \(Counted.directories(directories))."]
        if pastValues > 0 { lines.append("Unchanged: \(Counted.pastValues(pastValues)).") }
        if unverifiedItems > 0 { lines.append("Unchanged, but not verified here: \(Counted.items(unverifiedItems)).") }
        add("Items that do not verify (rows)", removedItems, to: &lines)
        add("Directories that do not verify (rows)", removedDirectories, to: &lines)
        add("Replaced or deleted values that do not verify (rows)", removedPastValues, to: &lines)
        for directory in displacedDirectories {
            lines.append("The name or place of directory \(directory.row) is lost; its items: \(directory.path)")
        }
        if removedKeys > 0 { lines.append("Rows of keys that cannot be read: \(removedKeys)") }
        if missingRows > 0 { lines.append("Committed rows are missing: \(missingRows) or more.") }
        if addedRows > 0 { lines.append("Rows that were never committed or were deleted: \(addedRows) or more.") }
        if replacedRows {
            lines.append(
                "Rows are older than the last commit, or forged with old keys; it is unknown which. They are kept.")
        }
        if wrongItemKeys > 0 { lines.append("Wrong lookup tags of certificates and keys: \(wrongItemKeys)") }
        if headerDamaged { lines.append("The header is damaged: it is unknown whether rows are missing or old.") }
        if structureFaults > 0 { lines.append("Faults in the structure of the file: \(structureFaults)") }
        return lines.joined(separator: "\n")
    }

    private func add(_ what: String, _ rows: [Int64], to lines: inout [String]) {
        guard !rows.isEmpty else { return }
        lines.append(what + ": " + rows.map(String.init).joined(separator: ", "))
    }
}
