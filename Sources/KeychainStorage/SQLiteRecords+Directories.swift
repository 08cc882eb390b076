internal import Keychain
internal import SQLiteRows

extension SQLiteRecords {
    private static let directorySelect = """
        SELECT id, parent, version, master_key_generation, tag, always_tag, name_seal, always_name_seal, name, always_name \
        FROM directory WHERE
        """
    static let directoryByID = directorySelect + " id = ?"
    static let directoriesInOrder = directorySelect + " id > ? ORDER BY id LIMIT ?"
    /// The index provides, as for items, only the row number, and the row provides all columns.
    private static let indexedDirectorySelect = """
        SELECT directory.id, directory.parent, directory.version, directory.master_key_generation, directory.tag, \
        directory.always_tag, directory.name_seal, directory.always_name_seal, directory.name, directory.always_name \
        FROM directory AS entry LEFT JOIN directory ON directory.id = entry.id WHERE
        """
    static let directoryByTag = indexedDirectorySelect + " entry.tag = ?"
    static let directoryByAlwaysTag = indexedDirectorySelect + " entry.always_tag = ?"
    static let directoriesOfParent =
        indexedDirectorySelect + " entry.parent = ? AND entry.id > ? ORDER BY entry.id LIMIT ?"

    func directory(id: RowID) throws(KeychainFault) -> DirectoryRecord? {
        try row(Self.directoryByID, [.row(id)], Self.directory)
    }

    func directory(tag: [UInt8], always: Bool) throws(KeychainFault) -> DirectoryRecord? {
        let found = try row(always ? Self.directoryByAlwaysTag : Self.directoryByTag, [.blob(tag)], Self.directory)
        guard let found else { return nil }
        guard (always ? found.alwaysTag : found.tag) == tag else { throw .decode }
        return found
    }

    func directories(parent: RowID, after: RowID, limit: Int) throws(KeychainFault) -> [DirectoryRecord] {
        try page(Self.directoriesOfParent, [.row(parent)], after: after, limit: limit) { row in
            let directory = try Self.directory(row)
            guard directory.parent == parent else { throw KeychainFault.decode }
            return directory
        }
    }

    func directoryIDs(parent: RowID, after: RowID, limit: Int) throws(KeychainFault) -> [RowID] {
        try page(
            "SELECT id FROM directory WHERE parent = ? AND id > ? ORDER BY id LIMIT ?", [.row(parent)],
            after: after, limit: limit
        ) { try $0.rowID(0) }
    }

    func directoryIDs(after: RowID, limit: Int) throws(KeychainFault) -> [RowID] {
        try page("SELECT id FROM directory WHERE id > ? ORDER BY id LIMIT ?", after: after, limit: limit) {
            try $0.rowID(0)
        }
    }

    static let alwaysDirectory = "SELECT 1 FROM directory WHERE parent = ? AND always_tag IS NOT NULL LIMIT 1"

    func directories(after: RowID, limit: Int) throws(KeychainFault) -> [DirectoryRecord] {
        try page(Self.directoriesInOrder, after: after, limit: limit, Self.directory)
    }

    func holdsAlwaysDirectory(_ parent: RowID) throws(KeychainFault) -> Bool {
        try row(Self.alwaysDirectory, [.row(parent)]) { _ in true } ?? false
    }

    /// Updating a row, as for items, with unchanged keys leaves the indexes unchanged.
    func put(_ directory: DirectoryRecord) throws(KeychainFault) {
        let updated = try execute(
            """
            UPDATE directory SET version = ?1, master_key_generation = ?2, name_seal = ?3, always_name_seal = ?4, name = ?5, \
            always_name = ?6 WHERE id = ?7 AND parent = ?8 AND tag = ?9 AND always_tag IS ?10
            """,
            [
                .integer(directory.version), .integer(directory.masterKeyGeneration),
                .nonceAndTag(directory.name.nonceAndTag),
                .nonceAndTag(directory.alwaysName?.nonceAndTag), .blob(directory.name.ciphertext),
                .blob(directory.alwaysName?.ciphertext), .row(directory.id), .row(directory.parent),
                .blob(directory.tag), .blob(directory.alwaysTag),
            ])
        guard updated == 0 else { return }
        // A new name may replace an old one.
        erasures?.note()
        try insert(directory)
    }

    private func insert(_ directory: DirectoryRecord) throws(KeychainFault) {
        try execute(
            """
            INSERT INTO directory (id, parent, version, master_key_generation, tag, always_tag, name_seal, always_name_seal, \
            name, always_name) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET \
            parent = excluded.parent, version = excluded.version, \
            master_key_generation = excluded.master_key_generation, tag = excluded.tag, always_tag = excluded.always_tag, name_seal = excluded.name_seal, \
            always_name_seal = excluded.always_name_seal, name = excluded.name, always_name = excluded.always_name
            """,
            [
                .row(directory.id), .row(directory.parent), .integer(directory.version),
                .integer(directory.masterKeyGeneration),
                .blob(directory.tag), .blob(directory.alwaysTag), .nonceAndTag(directory.name.nonceAndTag),
                .nonceAndTag(directory.alwaysName?.nonceAndTag), .blob(directory.name.ciphertext),
                .blob(directory.alwaysName?.ciphertext),
            ])
    }

    func deleteDirectory(_ id: RowID) throws(KeychainFault) {
        erasures?.note()
        try execute("DELETE FROM directory WHERE id = ?", [.row(id)])
    }

    private static func directory(_ row: borrowing StatementRow) throws -> DirectoryRecord {
        DirectoryRecord(
            id: try row.rowID(0), parent: try row.rowID(1), version: try row.number(2),
            masterKeyGeneration: try row.number(3), tag: try row.tag(4), alwaysTag: try row.optionalTag(5),
            name: try row.sealed(nonceAndTag: 6, ciphertext: 8),
            alwaysName: try row.optionalSealed(nonceAndTag: 7, ciphertext: 9))
    }
}
