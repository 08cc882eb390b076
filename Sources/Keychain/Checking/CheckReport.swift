/// What verifying every row of a keychain found.
package struct CheckReport: Hashable, Sendable {
    /// A part of the keychain that is hurt, as far as it can be named.
    package struct Damage: Hashable, Sendable {
        package enum Subject: String, Sendable {
            case item, directory
            /// A page of the file that lists them does not read: nobody can say which they are.
            case items, directories
            /// An intact row that an index misses: it is not found by name or not listed.
            case unindexedItem = "unindexed-item"
            case unindexedDirectory = "unindexed-directory"
        }

        package let subject: Subject
        /// Of a row that is there.
        package let row: RowID?
        /// Its path, or that of the directory it lies in; directories end in a slash, and a `?` stands for the name of one that
        /// is lost.
        package let path: String
        /// Whether the path is its own.
        package let isNamed: Bool
    }

    package var directories = 0
    package var items = 0
    /// Rows that could not be opened because of the lock state.
    package var unavailable = 0
    /// Items that only another device can open; of them the digest alone tells whether they are as written.
    package var foreign = 0
    package var damagedDirectories: [RowID] = []
    package var damagedItems: [RowID] = []
    /// The same, and what cannot be listed.
    package var damage: [Damage] = []
    package var damagedKeys = DamagedKeys()
    /// Rows of directories and items that were met, whatever their state.
    var visitedRows = 0
    /// Items of these.
    var visitedItems = 0
    /// How many rows were committed and could not be reached, because pages of the file do not read.
    package var unreadableRows: Int64 = 0
    /// Faults of the store's own structure, rows that lie in no directory among them.
    package var structureFaults = 0
    /// Differences between rows and indexes.
    package var indexes = IndexFindings()
    /// The number of items and directories that share a name with another one.
    package var sharedNames = 0
    /// Rows that are gone, older than they should be, or were never committed.
    package var rowFault: IntegrityFault?
    /// Whether ``rowFault`` is known: before the first unlock it is not.
    package var areRowsVerified = false
    /// The part of the store that deleted rows have left, in bytes.
    package var freeBytes = 0
    /// Names that editors leave behind (swap, backup and temporary files).
    package var leftovers: [String] = []

    package var isConsistent: Bool {
        damagedDirectories.isEmpty && damagedItems.isEmpty && damage.isEmpty && damagedKeys.total == 0
            && structureFaults == 0 && rowFault == nil && indexes.areConsistent && sharedNames == 0
    }

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

    mutating func addUnindexed(_ subject: Damage.Subject, _ id: RowID, _ path: String, isNamed: Bool) {
        damage.append(Damage(subject: subject, row: id, path: path, isNamed: isNamed))
    }

    mutating func addUnreadable(_ subject: Damage.Subject, in path: String) {
        damage.append(Damage(subject: subject, row: nil, path: path, isNamed: false))
    }
}
