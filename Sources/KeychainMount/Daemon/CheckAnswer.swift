package import Keychain

/// What `keychainfs check` shows, as the daemon sends it.
package struct CheckAnswer: JSONText, Sendable {
    package let directories: Int
    package let items: Int
    package let unavailable: Int
    /// Items that only another device can open.
    package let foreign: Int
    /// Row numbers: a damaged row has no readable name.
    package let damagedDirectories: [Int64]
    package let damagedItems: [Int64]
    package let structureFaults: Int
    /// Rows that were committed and are gone, at least so many.
    package let missingRows: Int64
    /// Rows that were never committed, at least so many.
    package let addedRows: Int64
    /// Rows are older than the last commit, or not of its form.
    package let replacedRows: Bool
    package let leftovers: [String]

    package init(_ report: CheckReport) {
        directories = report.directories
        items = report.items
        unavailable = report.unavailable
        foreign = report.foreign
        damagedDirectories = report.damagedDirectories.map(\.rawValue)
        damagedItems = report.damagedItems.map(\.rawValue)
        structureFaults = report.structureFaults
        var (missing, added, replaced): (Int64, Int64, Bool) = (0, 0, false)
        switch report.rowFault {
        case nil: break
        case .rowsMissing(let count): missing = count
        case .rowsAdded(let count): added = count
        case .rowsReplaced, .rowsUnreadable: replaced = true
        }
        (missingRows, addedRows, replacedRows) = (missing, added, replaced)
        leftovers = report.leftovers
    }

    package var isSound: Bool {
        damagedDirectories.isEmpty && damagedItems.isEmpty && structureFaults == 0 && areRowsCommitted
    }

    private var areRowsCommitted: Bool { missingRows == 0 && addedRows == 0 && !replacedRows }

    /// For a person.
    package var text: String {
        var lines = ["\(items) items in \(directories) directories verified."]
        if unavailable > 0 { lines.append("\(unavailable) rows are locked and were not looked into.") }
        if foreign > 0 { lines.append("\(foreign) items can be opened by another device only.") }
        if !damagedItems.isEmpty { lines.append("Damaged items (rows): " + list(damagedItems)) }
        if !damagedDirectories.isEmpty { lines.append("Damaged directories (rows): " + list(damagedDirectories)) }
        if structureFaults > 0 { lines.append("Faults in the structure of the file: \(structureFaults)") }
        if missingRows > 0 { lines.append("Rows are missing that were committed: \(missingRows) or more") }
        if addedRows > 0 { lines.append("Rows are there that were never committed: \(addedRows) or more") }
        if replacedRows { lines.append("Rows are older than what was committed, or damaged.") }
        if !leftovers.isEmpty { lines += ["Left over by editors:"] + leftovers.map { "  " + $0 } }
        let verdict =
            unavailable > 0 ? "What could be looked into is sound; unlock and check again." : "The keychain is sound."
        lines.append(isSound ? verdict : damagedAdvice)
        return lines.joined(separator: "\n")
    }

    private var damagedAdvice: String {
        "The keychain is DAMAGED. Restore a backup, or unmount it and let 'keychainfs check --repair' save what is sound."
    }

    private func list(_ rows: [Int64]) -> String { rows.map(String.init).joined(separator: ", ") }
}
