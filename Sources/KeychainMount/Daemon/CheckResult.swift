package import Keychain

/// The result of `keychainfs check`, as the daemon sends it.
package struct CheckResult: JSONText, Sendable {
    /// A damaged part, identified as far as possible.
    package struct DamagedPart: Codable, Sendable {
        /// `item`, `directory`; `items` or `directories` if a damaged page prevents that they are identified;
        /// `unindexed-item` or `unindexed-directory` for an intact item or directory without an index entry.
        package let subject: String
        package let row: Int64?
        /// The path if it is known, otherwise that of the containing directory. Directories end in a slash.
        package let path: String
        package let named: Bool

        init(_ damage: CheckReport.Damage) {
            (subject, row) = (damage.subject.rawValue, damage.row?.rawValue)
            (path, named) = (damage.path, damage.isNamed)
        }

        /// The text for users.
        var text: String {
            let place = path.isEmpty ? "the keychain" : path
            guard let row else { return "the \(subject) in \(place): a page of the file cannot be read" }
            let name = named ? "" : "in \(place), its name is lost: "
            let isUnindexed = subject.hasPrefix("unindexed-")
            let kind = isUnindexed ? subject.dropFirst("unindexed-".count) : subject[...]
            let text = name + "\(kind) \(named ? path + " " : "")(row \(row))"
            return isUnindexed ? text + ": it is there, but an index misses it" : text
        }
    }

    package let directories: Int
    package let items: Int
    package let unavailable: Int
    /// The number of items that only another device can open.
    package let foreign: Int
    /// The row numbers of damaged directories, whose names are unreadable.
    package let damagedDirectories: [Int64]
    package let damagedItems: [Int64]
    /// The number of intact values that were replaced or deleted, and the row numbers of damaged ones.
    package let pastValues: Int
    package let damagedPastValues: [Int64]
    /// Whether their size in the header is wrong.
    package let wrongPastBytes: Bool
    /// The damaged parts by name, including those that could not be listed.
    package let damage: [DamagedPart]
    /// The number of malformed rows of key slots; of devices and keys likewise.
    package let damagedSlots: Int
    package let damagedKeys: Int
    /// The approximate number of directories and items that were committed and could not be reached.
    package let unreadableRows: Int64
    package let structureFaults: Int
    /// The number of rows that at least one index misses, and of index entries that refer to no row or to a wrong one.
    package let unindexedRows: Int
    package let wrongIndexEntries: Int
    /// Whether a part of the file could not be read, so that not all rows could be compared with the indexes.
    package let incompleteIndexes: Bool
    /// The number of items and directories that share their name with another one.
    package let sharedNames: Int
    /// At least this number of committed rows is missing.
    package let missingRows: Int64
    /// At least this number of rows was never committed.
    package let addedRows: Int64
    /// Whether rows are older than the last commit, or malformed.
    package let replacedRows: Bool
    /// Whether another copy of the keychain was written over its file while it was open.
    package let anotherCopy: Bool
    package let leftovers: [String]
    /// The space that deleted items have freed in the file, in bytes, before a compaction.
    package let freeBytes: Int
    /// The number of bytes by which `check --compact` has reduced the file. Nil without --compact.
    package var compactedBytes: Int?

    package init(_ report: CheckReport) {
        directories = report.directories
        items = report.items
        unavailable = report.unavailable
        foreign = report.foreign
        damagedDirectories = report.damagedDirectories.map(\.rawValue)
        damagedItems = report.damagedItems.map(\.rawValue)
        pastValues = report.pastValues
        damagedPastValues = report.damagedPast.map(\.rawValue)
        wrongPastBytes = report.arePastBytesWrong
        damage = report.damage.map { DamagedPart($0) }
        damagedSlots = report.damagedKeys.slots
        damagedKeys = report.damagedKeys.total - report.damagedKeys.slots
        unreadableRows = report.unreadableRows
        structureFaults = report.structureFaults
        unindexedRows = report.indexes.unindexedRows
        wrongIndexEntries = report.indexes.wrongEntries
        incompleteIndexes = report.indexes.isIncomplete
        sharedNames = report.sharedNames
        var (missing, added, replaced): (Int64, Int64, Bool) = (0, 0, false)
        switch report.rowFault {
        case nil: break
        case .rowsMissing(let count): missing = count
        case .rowsAdded(let count): added = count
        case .rowsReplaced, .rowsUnreadable: replaced = true
        case .anotherCopy: break
        }
        anotherCopy = report.rowFault == .anotherCopy
        (missingRows, addedRows, replacedRows) = (missing, added, replaced)
        leftovers = report.leftovers
        freeBytes = report.freeBytes
    }

    package var isConsistent: Bool {
        damagedDirectories.isEmpty && damagedItems.isEmpty && arePastValuesIntact && damage.isEmpty && damagedSlots == 0
            && damagedKeys == 0 && structureFaults == 0 && areRowsCommitted && areIndexesConsistent
    }

    private var arePastValuesIntact: Bool { damagedPastValues.isEmpty && !wrongPastBytes }

    private var areIndexesConsistent: Bool {
        unindexedRows == 0 && wrongIndexEntries == 0 && !incompleteIndexes && sharedNames == 0
    }

    private var areRowsCommitted: Bool { missingRows == 0 && addedRows == 0 && !replacedRows && !anotherCopy }

    /// The text for users.
    package var text: String {
        var lines = ["\(Counted.items(items)) in \(Counted.directories(directories)) verified."]
        if pastValues > 0 { lines.append("\(Counted.pastValues(pastValues)) verified.") }
        if unavailable > 0 {
            lines.append(
                "\(Counted.text(unavailable, "row is locked and was", "rows are locked and were")) not examined.")
        }
        if foreign > 0 { lines.append("\(Counted.items(foreign)) can be opened by another device only.") }
        if !damagedItems.isEmpty { lines.append("Damaged items (rows): " + list(damagedItems)) }
        if !damagedPastValues.isEmpty {
            lines.append("Damaged replaced or deleted values (rows): " + list(damagedPastValues))
        }
        if wrongPastBytes { lines.append("The total size of replaced and deleted values is wrong.") }
        if !damagedDirectories.isEmpty { lines.append("Damaged directories (rows): " + list(damagedDirectories)) }
        lines += damage.map { "  " + $0.text }
        if unreadableRows > 0 { lines.append("Rows that could not be reached: about \(unreadableRows)") }
        if damagedSlots > 0 { lines.append("Damaged key slots: \(damagedSlots); they open nothing.") }
        if damagedKeys > 0 {
            lines.append("Damaged rows of keys: \(damagedKeys); the items that need them cannot be read.")
        }
        if structureFaults > 0 { lines.append("Faults in the structure of the file: \(structureFaults)") }
        if unindexedRows > 0 { lines.append("Rows that an index misses: \(unindexedRows)") }
        if wrongIndexEntries > 0 { lines.append("Wrong index entries: \(wrongIndexEntries)") }
        if incompleteIndexes { lines.append("Not all indexes could be compared: a part of the file does not read.") }
        if sharedNames > 0 { lines.append("Items and directories that share a name with another one: \(sharedNames)") }
        if missingRows > 0 { lines.append("Rows are missing that were committed: \(missingRows) or more") }
        if addedRows > 0 { lines.append("Rows exist that were never committed: \(addedRows) or more") }
        if replacedRows { lines.append("Rows are older than the last commit, or damaged.") }
        if anotherCopy { lines.append("ANOTHER COPY of the keychain was written over its file while it was open.") }
        if !leftovers.isEmpty { lines += ["Left over by editors:"] + leftovers.map { "  " + $0 } }
        if let compactedBytes {
            lines.append("The file is \(Counted.bytes(compactedBytes)) smaller.")
        } else if freeBytes > 0 {
            lines.append("Free in the file: \(Counted.bytes(freeBytes)), which 'keychainfs check --compact' releases.")
        }
        let verdict =
            unavailable > 0 ? "The available rows are intact; unlock and check again." : "The keychain is intact."
        lines.append(isConsistent ? verdict : damagedAdvice)
        return lines.joined(separator: "\n")
    }

    private var damagedAdvice: String {
        guard !anotherCopy else {
            return """
                The keychain may be OLDER than it was, and nothing can be changed. Unmount it, and replace its file by the newest \
                copy or a backup. 'keychainfs mount' refuses a copy that is older than the state that this device has seen.
                """
        }
        let isReadable =
            damagedDirectories.isEmpty && damagedItems.isEmpty && arePastValuesIntact && damagedSlots == 0
            && damagedKeys == 0
            && structureFaults == 0 && areRowsCommitted && unreadableRows == 0 && !incompleteIndexes
        guard !isReadable else {
            return "The indexes are DAMAGED, and no item is: the next mount that is unlocked rebuilds them."
        }
        return
            "The keychain is DAMAGED. Restore a backup, or unmount it and let 'keychainfs check --repair' save the intact items."
    }

    private func list(_ rows: [Int64]) -> String { rows.map(String.init).joined(separator: ", ") }
}
