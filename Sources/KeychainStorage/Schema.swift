internal import GRDB

/// The tables of format 2, and how a file that has them is distinguished from any other.
///
/// Rows contain exactly the fields of the records, so the schema determines what is readable in the file. Columns are in
/// the order in which they are digested, with the contents last, so that digests need no overflow pages. Rows
/// of `past` and `item_key` are written by later versions of this format; this one verifies, copies and reseals them.
enum Schema {
    /// `PRAGMA application_id`: "KCFS".
    static let applicationID: Int32 = 0x4B43_4653
    /// `PRAGMA user_version`: the format that this program writes.
    static let format = 2

    /// The number of the page that contains the store row: the root page of the first table, because a single row needs
    /// no other.
    static let storePage = 2

    /// The statements in the order of creation, spelled as SQLite stores them. Part of the store format.
    static let statements = tables + StoreIndex.all.map(\.statement)

    private static let tables = [
        """
        CREATE TABLE store (id INTEGER PRIMARY KEY CHECK (id = 1), identifier BLOB NOT NULL, salt BLOB NOT NULL, \
        passes INTEGER NOT NULL, memory INTEGER NOT NULL, user_key_generation INTEGER NOT NULL, \
        master_key_generation INTEGER NOT NULL, reader_mask INTEGER NOT NULL, writer_mask INTEGER NOT NULL, \
        master_keys_seal BLOB NOT NULL, master_keys BLOB NOT NULL, header_seal BLOB NOT NULL, header BLOB NOT \
        NULL) STRICT
        """,
        """
        CREATE TABLE slot (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, user_key_generation INTEGER NOT NULL, \
        ephemeral BLOB NOT NULL, parameters BLOB NOT NULL, user_key_seal BLOB NOT NULL, user_key BLOB NOT NULL, \
        recipient_seal BLOB NOT NULL, recipient BLOB NOT NULL) STRICT
        """,
        "CREATE TABLE device (id INTEGER PRIMARY KEY, tag BLOB NOT NULL, mark INTEGER NOT NULL, mark_id BLOB NOT NULL) STRICT",
        """
        CREATE TABLE class_key (purpose INTEGER NOT NULL, generation INTEGER NOT NULL, device INTEGER NOT NULL, \
        wrapping INTEGER NOT NULL, user_key_generation INTEGER NOT NULL, keys_seal BLOB NOT NULL, keys BLOB NOT \
        NULL, PRIMARY KEY (purpose, generation, device, wrapping)) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE user_key (generation INTEGER PRIMARY KEY, key_seal BLOB NOT NULL, key BLOB NOT NULL) STRICT
        """,
        """
        CREATE TABLE directory (id INTEGER PRIMARY KEY, parent INTEGER NOT NULL, version INTEGER NOT NULL, \
        master_key_generation INTEGER NOT NULL, tag BLOB NOT NULL, always_tag BLOB, name_seal BLOB NOT NULL, \
        always_name_seal BLOB, name BLOB NOT NULL, always_name BLOB) STRICT
        """,
        """
        CREATE TABLE item (id INTEGER PRIMARY KEY, directory INTEGER NOT NULL, version INTEGER NOT NULL, \
        protection INTEGER NOT NULL, generation INTEGER NOT NULL, master_key_generation INTEGER, secret_row \
        INTEGER, tag BLOB NOT NULL, always_tag BLOB, ephemeral BLOB, mac BLOB, metadata_seal BLOB NOT NULL, \
        secret_seals BLOB NOT NULL, metadata BLOB NOT NULL, secret BLOB) STRICT
        """,
        """
        CREATE TABLE past (id INTEGER PRIMARY KEY, protection INTEGER NOT NULL, generation INTEGER NOT NULL, \
        master_key_generation INTEGER NOT NULL, secret_row INTEGER, tag BLOB NOT NULL, info_seal BLOB NOT NULL, \
        secret_seals BLOB NOT NULL, info BLOB NOT NULL, metadata BLOB NOT NULL, secret BLOB) STRICT
        """,
        """
        CREATE TABLE item_key (item INTEGER NOT NULL, kind INTEGER NOT NULL, tag BLOB NOT NULL, PRIMARY KEY (item, \
        kind)) STRICT, WITHOUT ROWID
        """,
        "CREATE TABLE secret (id INTEGER PRIMARY KEY, ciphertext BLOB NOT NULL) STRICT",
    ]

    /// Creates a keychain without records in an empty database.
    static func create(in db: Database) throws {
        try db.inTransaction(.immediate) {
            try db.execute(sql: "PRAGMA application_id = \(applicationID)")
            try db.execute(sql: "PRAGMA user_version = \(format)")
            for statement in statements { try db.execute(sql: statement) }
            return .commit
        }
    }

    /// Refuses a file that is not a keychain of a known format, or has a table, trigger, view or column that this
    /// program never writes. Takes a time that does not depend on the number of rows.
    ///
    /// - Throws: ``StoreOpenError`` or an error of GRDB.
    static func verify(_ db: Database) throws {
        guard try Int32.fetchOne(db, sql: "PRAGMA application_id") == applicationID else {
            throw StoreOpenError.notAKeychain
        }
        // The file's own header has been read before, so another number is in the log.
        guard try Int.fetchOne(db, sql: "PRAGMA user_version") == format else { throw StoreOpenError.damaged }
        let statements = try String.fetchAll(
            db, sql: "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")
        guard statements == Self.statements else { throw StoreOpenError.damaged }
        let root = try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_schema WHERE name = 'store'")
        guard root == storePage else { throw StoreOpenError.damaged }
    }
}
