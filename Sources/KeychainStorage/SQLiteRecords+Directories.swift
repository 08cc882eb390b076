internal import Keychain
internal import SQLiteRows

extension SQLiteRecords {
    private static let directorySelect = """
        SELECT id, parent, version, generation, tag, always_tag, name_seal, always_name_seal, name, always_name \
        FROM directory WHERE
        """
    static let directoryByID = directorySelect + " id = ?"
    /// As with items, an index gives the row's number alone, and the row all columns.
    private static let indexedDirectorySelect = """
        SELECT directory.id, directory.parent, directory.version, directory.generation, directory.tag, \
        directory.always_tag, directory.name_seal, directory.always_name_seal, directory.name, directory.always_name \
        FROM directory AS entry LEFT JOIN directory ON directory.id = entry.id WHERE
        """
    static let directoryByTag = indexedDirectorySelect + " entry.tag = ?"
    static let directoryByAlwaysTag = indexedDirectorySelect + " entry.always_tag = ?"
    static let directoriesOfParent =
        indexedDirectorySelect + " entry.parent = ? AND entry.id > ? ORDER BY entry.id LIMIT ?"

    func directory(id: RowID) throws(KeychainError) -> DirectoryRecord? {
        try row(Self.directoryByID, [.row(id)], Self.directory)
    }

    func directory(tag: [UInt8], always: Bool) throws(KeychainError) -> DirectoryRecord? {
        let found = try row(always ? Self.directoryByAlwaysTag : Self.directoryByTag, [.blob(tag)], Self.directory)
        guard let found else { return nil }
        guard (always ? found.alwaysTag : found.tag) == tag else { throw .decode }
        return found
    }

    func directories(parent: RowID, after: RowID, limit: Int) throws(KeychainError) -> [DirectoryRecord] {
        try page(Self.directoriesOfParent, [.row(parent)], after: after, limit: limit) { row in
            let directory = try Self.directory(row)
            guard directory.parent == parent else { throw KeychainError.decode }
            return directory
        }
    }

    func directoryIDs(parent: RowID, after: RowID, limit: Int) throws(KeychainError) -> [RowID] {
        try page(
            "SELECT id FROM directory WHERE parent = ? AND id > ? ORDER BY id LIMIT ?", [.row(parent)],
            after: after, limit: limit
        ) { try $0.rowID(0) }
    }

    func directoryIDs(after: RowID, limit: Int) throws(KeychainError) -> [RowID] {
        try page("SELECT id FROM directory WHERE id > ? ORDER BY id LIMIT ?", after: after, limit: limit) {
            try $0.rowID(0)
        }
    }

    private static let directoryHeadSelect = """
        SELECT id, parent, version, generation, tag, always_tag, name_seal, always_name_seal FROM directory WHERE
        """
    static let directoryHeadByID = directoryHeadSelect + " id = ?"
    static let directoryHeadsInOrder = directoryHeadSelect + " id > ? ORDER BY id LIMIT ?"
    static let alwaysDirectory = "SELECT 1 FROM directory WHERE parent = ? AND always_tag IS NOT NULL LIMIT 1"

    func directoryHead(id: RowID) throws(KeychainError) -> DirectoryHead? {
        try row(Self.directoryHeadByID, [.row(id)], Self.directoryHead)
    }

    func directoryHeads(after: RowID, limit: Int) throws(KeychainError) -> [DirectoryHead] {
        try page(Self.directoryHeadsInOrder, after: after, limit: limit, Self.directoryHead)
    }

    func holdsAlwaysDirectory(_ parent: RowID) throws(KeychainError) -> Bool {
        try row(Self.alwaysDirectory, [.row(parent)]) { _ in true } ?? false
    }

    /// As with items, the UPDATE of a row that keeps its place leaves the indexes alone.
    func put(_ directory: DirectoryRecord) throws(KeychainError) {
        let updated = try execute(
            """
            UPDATE directory SET version = ?1, generation = ?2, name_seal = ?3, always_name_seal = ?4, name = ?5, \
            always_name = ?6 WHERE id = ?7 AND parent = ?8 AND tag = ?9 AND always_tag IS ?10
            """,
            [
                .integer(directory.version), .integer(directory.generation), .seal(directory.name.seal),
                .seal(directory.alwaysName?.seal), .blob(directory.name.ciphertext),
                .blob(directory.alwaysName?.ciphertext), .row(directory.id), .row(directory.parent),
                .blob(directory.tag), .blob(directory.alwaysTag),
            ])
        guard updated == 0 else { return }
        // A new name, perhaps in the place of an old one.
        erasures?.note()
        try insert(directory)
    }

    private func insert(_ directory: DirectoryRecord) throws(KeychainError) {
        try execute(
            """
            INSERT INTO directory (id, parent, version, generation, tag, always_tag, name_seal, always_name_seal, \
            name, always_name) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET \
            parent = excluded.parent, version = excluded.version, generation = excluded.generation, \
            tag = excluded.tag, always_tag = excluded.always_tag, name_seal = excluded.name_seal, \
            always_name_seal = excluded.always_name_seal, name = excluded.name, always_name = excluded.always_name
            """,
            [
                .row(directory.id), .row(directory.parent), .integer(directory.version), .integer(directory.generation),
                .blob(directory.tag), .blob(directory.alwaysTag), .seal(directory.name.seal),
                .seal(directory.alwaysName?.seal), .blob(directory.name.ciphertext),
                .blob(directory.alwaysName?.ciphertext),
            ])
    }

    func deleteDirectory(_ id: RowID) throws(KeychainError) {
        erasures?.note()
        try execute("DELETE FROM directory WHERE id = ?", [.row(id)])
    }

    private static func directory(_ row: borrowing StatementRow) throws -> DirectoryRecord {
        DirectoryRecord(
            id: try row.rowID(0), parent: try row.rowID(1), version: try row.number(2), generation: try row.number(3),
            tag: try row.tag(4), alwaysTag: try row.optionalTag(5), name: try row.sealed(seal: 6, ciphertext: 8),
            alwaysName: try row.optionalSealed(seal: 7, ciphertext: 9))
    }

    private static func directoryHead(_ row: borrowing StatementRow) throws -> DirectoryHead {
        DirectoryHead(
            id: try row.rowID(0), parent: try row.rowID(1), version: try row.number(2), generation: try row.number(3),
            tag: try row.tag(4), alwaysTag: try row.optionalTag(5), nameSeal: try row.seal(6),
            alwaysNameSeal: row.isNull(7) ? nil : try row.seal(7))
    }
}
