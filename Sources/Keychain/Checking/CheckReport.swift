/// The result of verifying every row of a keychain.
package struct CheckReport: Hashable, Sendable {
    /// A damaged part of the keychain, identified as far as possible.
    package struct Damage: Hashable, Sendable {
        package enum Subject: String, Sendable {
            case item, directory
            /// A page of the file that lists items or directories cannot be read, so that they are unknown.
            case items, directories
            /// An intact row that an index misses, so that it cannot be found by name or is not listed.
            case unindexedItem = "unindexed-item"
            case unindexedDirectory = "unindexed-directory"
        }

        package let subject: Subject
        /// The row number of an existing row; nil for rows that cannot be listed.
        package let row: RowID?
        /// The path of the item or directory, or of the directory that contains it. Directories end in a slash; `?`
        /// replaces the name of a lost directory.
        package let path: String
        /// Whether the path is that of the item or directory itself.
        package let isNamed: Bool
    }

    package var directories = 0
    package var items = 0
    /// The number of past values that are authentic, including those of another device.
    package var pastValues = 0
    /// The past values that are not authentic.
    package var damagedPast: [RowID] = []
    /// Whether the number of their bytes in the header is wrong.
    package var arePastBytesWrong = false
    /// The number of rows that could not be opened because of the lock state.
    package var unavailable = 0
    /// The number of items that only another device can open. Only the digest shows whether they are unchanged.
    package var foreign = 0
    package var damagedDirectories: [RowID] = []
    package var damagedItems: [RowID] = []
    /// The damaged parts, including those that cannot be listed.
    package var damage: [Damage] = []
    package var damagedKeys = DamagedKeys()
    /// The number of rows of directories and items that were visited, regardless of their state.
    var visitedRows = 0
    /// The items that have rows of item keys.
    var itemsWithKeys: Set<RowID> = []
    /// The number of visited rows that are items in a listing, and of damaged items that are in none.
    var visitedItems = 0
    var unlistedItems = 0
    /// The number of committed rows that could not be reached, because pages of the file cannot be read.
    package var unreadableRows: Int64 = 0
    /// The number of faults of the store's structure, including rows that are in no directory.
    package var structureFaults = 0
    /// The differences between rows and indexes.
    package var indexes = IndexFindings()
    /// The number of items and directories that share a name with another one.
    package var sharedNames = 0
    /// Rows that are missing, older than they should be, or were never committed.
    package var rowFault: IntegrityFault?
    /// Whether ``rowFault`` is known. Before the first unlock it is not.
    package var areRowsVerified = false
    /// The space that deleted rows have freed in the store, in bytes.
    package var freeBytes = 0
    /// The names of temporary files that editors have left (swap, backup and temporary files).
    package var leftovers: [String] = []

    package var isConsistent: Bool {
        damagedDirectories.isEmpty && damagedItems.isEmpty && damagedPast.isEmpty && damage.isEmpty
            && damagedKeys.total == 0
            && structureFaults == 0 && rowFault == nil && indexes.areConsistent && sharedNames == 0
            && !arePastBytesWrong
    }

    /// The rows that ``damage`` contains.
    var namedRows: Set<RowID> { Set(damage.compactMap(\.row)) }

    /// Whether a part of the keychain could not even be listed.
    var hasUnreadablePages: Bool { damage.contains { $0.row == nil } }

    mutating func addItem(_ id: RowID, _ path: String, isNamed: Bool) {
        damagedItems.append(id)
        damage.append(Damage(subject: .item, row: id, path: path, isNamed: isNamed))
    }

    mutating func addDirectory(_ id: RowID, _ path: String, isNamed: Bool) {
        damagedDirectories.append(id)
        damage.append(Damage(subject: .directory, row: id, path: path, isNamed: isNamed))
    }

    /// Adds a damaged directory that is in no listing.
    mutating func addUnlistedDirectory(_ id: RowID) {
        addDirectory(id, "", isNamed: false)
        visitedRows += 1
    }

    /// Adds a damaged item that is in no listing.
    mutating func addUnlistedItem(_ id: RowID) {
        addItem(id, "", isNamed: false)
        visitedRows += 1
        unlistedItems += 1
    }

    mutating func addUnindexed(_ subject: Damage.Subject, _ id: RowID, _ path: String, isNamed: Bool) {
        damage.append(Damage(subject: subject, row: id, path: path, isNamed: isNamed))
    }

    mutating func addUnreadable(_ subject: Damage.Subject, in path: String) {
        damage.append(Damage(subject: subject, row: nil, path: path, isNamed: false))
    }
}
