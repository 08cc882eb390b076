internal import Foundation
internal import GRDB
internal import Glibc
package import Keychain

extension SQLiteRecordStore {
    /// Creates a store without rows in the empty file at `path`. The caller makes it durable and renames it.
    package static func create(inEmptyFile path: String) throws(StoreOpenError) -> SQLiteRecordStore {
        SQLiteRecordStore(try WriterConnection.create(try StoreFile(path: path)), isReadOnly: false)
    }

    /// Copies all rows that the pages of a damaged file still contain into a new store in the empty file at `path`.
    ///
    /// Does not inspect rows, and uses neither trees nor indexes. The result is for reading only: it lacks the unique
    /// constraints of tags and class keys, which damaged rows may violate.
    ///
    /// - Parameter source: A copy that is not in use, with its log next to it. May be modified.
    package static func salvage(fileAt source: String, to path: String) throws(KeychainFault) -> SQLiteRecordStore {
        let readable = try checkpointed(source)
        defer { readable?.close() }
        let copy: SQLiteRecordStore
        do throws(StoreOpenError) {
            copy = try create(inEmptyFile: path)
        } catch {
            throw KeychainFault(ofDisk: error) ?? .io(-EIO)
        }
        do throws(KeychainFault) {
            try copy.current().perform { db throws(KeychainFault) in
                try KeychainFault.mapping(db) { try Salvage(from: PageScanner(path: source), to: db).run() }
                guard let readable else { return }
                try readable.current().perform { source throws(KeychainFault) in
                    try KeychainFault.mapping(source) {
                        var found = try SalvageReader(in: source)
                        try found.replace(in: db)
                    }
                }
            }
            return copy
        } catch {
            copy.close()
            throw error
        }
    }
}

extension SQLiteRecordStore {
    /// Opens a damaged file and moves its log, whose contents belong to the pages, into it; nil if the damage prevents it.
    ///
    /// - Throws: An error of the disk: without the log, the newest changes would be missing.
    private static func checkpointed(_ path: String) throws(KeychainFault) -> SQLiteRecordStore? {
        let store: SQLiteRecordStore
        do throws(StoreOpenError) {
            store = try open(path: path)
        } catch {
            if let fault = KeychainFault(ofDisk: error) { throw fault }
            return nil
        }
        do throws(KeychainFault) {
            try store.checkpoint()
        } catch {
            guard !error.isOfDisk else {
                store.close()
                throw error
            }
        }
        return store
    }
}

extension KeychainFault {
    /// Returns nil for an error that damage of the file may cause.
    fileprivate init?(ofDisk error: StoreOpenError) {
        switch error {
        case .diskFull: self = .diskFull
        case .readOnlyFileSystem: self = .readOnly
        case .io(let code): self = .io(code)
        default: return nil
        }
        guard isOfDisk else { return nil }
    }

    /// Whether the disk or the system, and no damage of the file, is the cause.
    fileprivate var isOfDisk: Bool {
        switch self {
        case .diskFull, .readOnly, .allocate: true
        // A file that is too short is damaged.
        case .io(let code):
            code < 0
                || code & 0xFF == ResultCode.SQLITE_IOERR.rawValue
                    && code != ResultCode.SQLITE_IOERR_SHORT_READ.rawValue
        default: false
        }
    }
}

/// Inserts each row into the table with matching columns: no two tables have the same columns.
private struct Salvage {
    /// The columns that show which of two rows with one number is newer.
    private static let ages = [
        "item": ("version", 2), "directory": ("version", 2), "past": ("master_key_generation", 3),
    ]
    private static let uniqueIndexes = ["directory_tag", "directory_always_tag", "item_tag", "item_always_tag"]

    private let pages: PageScanner
    private let db: Database
    /// The statement that inserts a row into each table.
    private let inserts: [String: String]

    init(from pages: PageScanner, to db: Database) throws {
        self.pages = pages
        self.db = db
        var inserts: [String: String] = [:]
        for table in RawRow.tables {
            let values = try db.columns(in: table).map { $0.asRead("?") }.joined(separator: ", ")
            inserts[table] = "INSERT OR IGNORE INTO \(table) VALUES (\(values))"
        }
        self.inserts = inserts
    }

    func run() throws {
        try allowDuplicates()
        try db.inTransaction {
            try pages.forEachRow { row in
                guard let table = row.table else { return }
                try put(row, in: table)
            }
            return .commit
        }
    }

    private func allowDuplicates() throws {
        for index in Self.uniqueIndexes { try db.execute(sql: "DROP INDEX \(index)") }
        try db.execute(
            sql: """
                CREATE TABLE any_class_key AS SELECT * FROM class_key;
                DROP TABLE class_key;
                ALTER TABLE any_class_key RENAME TO class_key
                """)
    }

    /// Inserts a row. Of two rows with one number the newer one stays. A row that the table refuses is ignored.
    private func put(_ row: RawRow, in table: String) throws {
        var values = row.values.map(\.databaseValue)
        if let rowID = row.rowID { values[0] = rowID.databaseValue }
        do {
            if let (column, index) = Self.ages[table] {
                try db.cachedStatement(sql: "DELETE FROM \(table) WHERE id = ? AND \(column) < ?")
                    .execute(arguments: [values[0], values[index]])
            }
            guard let insert = inserts[table] else { return }
            try db.cachedStatement(sql: insert).execute(arguments: StatementArguments(values))
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            return
        }
    }
}

extension ColumnInfo {
    /// Returns a value as readers convert it: one changed bit makes a number or text of bytes, which the table would
    /// refuse.
    func asRead(_ value: String) -> String { "CAST(\(value) AS \(type))" }
}

extension RawRow {
    static let tables = [
        "store", "slot", "device", "class_key", "user_key", "directory", "item", "past", "item_key", "secret",
    ]

    /// The table for rows of this form; nil if it is not a row of a keychain.
    var table: String? {
        guard rowID != nil else { return tableWithoutRowID }
        guard values.first == .null else { return nil }
        switch values.count {
        case 2: return byteCount(1) == nil ? nil : "secret"
        case 3: return byteCount(1) == 40 ? "user_key" : nil
        case 4: return byteCount(1) == 16 && byteCount(3) == 16 ? "device" : nil
        case 9: return byteCount(5) == 40 ? "slot" : nil
        case 10: return byteCount(6) == 40 ? "directory" : nil
        case 11: return byteCount(6) == 40 ? "past" : nil
        case 13: return byteCount(1) == 16 ? "store" : nil
        case 15: return byteCount(11) == 40 ? "item" : nil
        default: return nil
        }
    }

    /// An entry of the index on the tags of `item_key` has as many columns, the tag first.
    private var tableWithoutRowID: String? {
        switch values.count {
        case 3: byteCount(2) == 16 && byteCount(0) == nil ? "item_key" : nil
        case 7: byteCount(5) == 40 ? "class_key" : nil
        default: nil
        }
    }

    private func byteCount(_ column: Int) -> Int? {
        if case .bytes(let bytes) = values[column] { bytes.count } else { nil }
    }
}

extension RawRow.Value {
    fileprivate var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let number): number.databaseValue
        case .bytes(let bytes): Data(bytes).databaseValue
        }
    }
}
