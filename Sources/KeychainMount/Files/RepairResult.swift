import Keychain

/// What `check --repair` has found and done, or would do.
package struct RepairResult: JSONText, Sendable {
    /// A directory whose name or place was lost, and where what lies in it is now.
    package struct RecoveredDirectory: Codable, Sendable {
        package let row: Int64
        package let path: String
    }

    package let keychain: String
    /// False: there was nothing to repair, or it was not done.
    package var repaired = false
    /// Where the damaged keychain lies, whole.
    package var aside: String?
    /// Items that stay, and how many of them nobody can verify now: another device's, or waiting for a passphrase slot.
    package let items: Int
    package let unverifiedItems: Int
    package let directories: Int
    /// Rows that do not verify and are left out. What does not verify has no name.
    package let removedItems: [Int64]
    package let removedDirectories: [Int64]
    /// Directories that were damaged or missing and are made anew as what lies in them proves.
    package let restoredDirectories: [Int64]
    package let displacedDirectories: [RecoveredDirectory]
    /// Rows of keys that could not be read.
    package let removedKeys: Int
    /// Rows that were committed and are in the damaged file no more, at least so many.
    package let missingRows: Int64
    /// Rows that were never committed or had been deleted, at least so many. They verify, so they stay.
    package let addedRows: Int64
    /// Rows are not those of the last commit: some may be older. They verify, so they stay.
    package let replacedRows: Bool
    package let headerDamaged: Bool
    package let structureFaults: Int

    init(_ findings: RepairFindings, keychain: String, structureFaults: Int) {
        self.keychain = keychain
        items = findings.items
        unverifiedItems = findings.unverifiedItems
        directories = findings.directories
        removedItems = findings.damagedItems.map(\.rawValue)
        removedDirectories = findings.removedDirectories.map(\.rawValue)
        restoredDirectories = findings.restoredDirectories.map(\.rawValue)
        displacedDirectories = findings.displacedDirectories.map { id in
            RecoveredDirectory(row: id.rawValue, path: findings.path(of: id))
        }
        removedKeys = findings.damagedKeys
        missingRows = findings.missingRows
        addedRows = findings.addedRows
        replacedRows = findings.areRowsReplaced
        headerDamaged = findings.isHeaderDamaged
        self.structureFaults = structureFaults
    }

    /// For a person.
    package var text: String {
        var lines = ["\(items) items in \(directories) directories stay as they are."]
        if unverifiedItems > 0 { lines.append("\(unverifiedItems) of them cannot be verified here; they stay too.") }
        add("Items that do not verify (rows)", removedItems, to: &lines)
        add("Directories that do not verify (rows)", removedDirectories, to: &lines)
        add("Directories made anew, known by what lies in them (rows)", restoredDirectories, to: &lines)
        for directory in displacedDirectories {
            lines.append("The name or place of directory \(directory.row) is lost; its items: \(directory.path)")
        }
        if removedKeys > 0 { lines.append("Rows of keys that cannot be read: \(removedKeys)") }
        if missingRows > 0 { lines.append("Rows are gone that were committed: \(missingRows) or more.") }
        if addedRows > 0 { lines.append("Rows are there that were never committed, or deleted: \(addedRows) or more.") }
        if replacedRows { lines.append("Rows are older than the last commit; it cannot be told which. They stay.") }
        if headerDamaged { lines.append("The header is damaged: whether rows are missing or old cannot be told.") }
        if structureFaults > 0 { lines.append("Faults in the structure of the file: \(structureFaults)") }
        return lines.joined(separator: "\n")
    }

    private func add(_ what: String, _ rows: [Int64], to lines: inout [String]) {
        guard !rows.isEmpty else { return }
        lines.append(what + ": " + rows.map(String.init).joined(separator: ", "))
    }
}
