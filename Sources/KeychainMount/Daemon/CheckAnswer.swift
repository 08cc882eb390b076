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
    package let leftovers: [String]

    package init(_ report: CheckReport) {
        directories = report.directories
        items = report.items
        unavailable = report.unavailable
        foreign = report.foreign
        damagedDirectories = report.damagedDirectories.map(\.rawValue)
        damagedItems = report.damagedItems.map(\.rawValue)
        structureFaults = report.structureFaults
        leftovers = report.leftovers
    }

    package var isSound: Bool { damagedDirectories.isEmpty && damagedItems.isEmpty && structureFaults == 0 }

    /// For a person.
    package var text: String {
        var lines = ["\(items) items in \(directories) directories verified."]
        if unavailable > 0 { lines.append("\(unavailable) rows are locked and were not looked into.") }
        if foreign > 0 { lines.append("\(foreign) items can be opened by another device only.") }
        if !damagedItems.isEmpty { lines.append("Damaged items (rows): " + list(damagedItems)) }
        if !damagedDirectories.isEmpty { lines.append("Damaged directories (rows): " + list(damagedDirectories)) }
        if structureFaults > 0 { lines.append("Faults in the structure of the file: \(structureFaults)") }
        if !leftovers.isEmpty { lines += ["Left over by editors:"] + leftovers.map { "  " + $0 } }
        let verdict =
            unavailable > 0 ? "What could be looked into is sound; unlock and check again." : "The keychain is sound."
        lines.append(isSound ? verdict : "The keychain is DAMAGED. Restore a backup.")
        return lines.joined(separator: "\n")
    }

    private func list(_ rows: [Int64]) -> String { rows.map(String.init).joined(separator: ", ") }
}
