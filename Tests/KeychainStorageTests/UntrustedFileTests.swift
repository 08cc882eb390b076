import Foundation
import GRDB
import Keychain
import Testing

@testable import KeychainStorage

/// L6: what a connection to a file that an attacker may have written permits.
@Suite("the connection to an untrusted file")
struct UntrustedFileTests {
    enum Access: CaseIterable {
        case writer, reader
    }

    private func withConnection(_ access: Access, _ body: (Database) throws -> Void) throws {
        let scratch = try TemporaryDirectory()
        var store = try SQLiteRecordStore.create(at: scratch.keychain) { $0 }
        if access == .reader {
            store.close()
            store = try SQLiteRecordStore.open(path: scratch.keychain, access: .readOnly)
        }
        defer { store.close() }
        var failure: (any Error)?
        try store.current().perform { db throws(KeychainFault) in
            do { try body(db) } catch { failure = error }
        }
        if let failure { throw failure }
        withExtendedLifetime(scratch) {}
    }

    private func code(_ db: Database, _ sql: String) -> ResultCode? {
        do {
            _ = try Row.fetchAll(db, sql: sql)
            return nil
        } catch {
            return (error as? DatabaseError)?.resultCode
        }
    }

    @Test("L6: no statement writes the schema table", arguments: Access.allCases)
    func schemaTable(access: Access) throws {
        try withConnection(access) { db in
            try db.execute(sql: "PRAGMA writable_schema = ON")
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "UPDATE sqlite_schema SET sql = sql WHERE name = 'item_tag'")
            }
            #expect(code(db, "PRAGMA journal_mode = OFF") == nil)
            let mode = try String.fetchOne(db, sql: "PRAGMA journal_mode")
            #expect(mode != "off")
        }
    }

    @Test("L6: triggers and views are ignored")
    func triggersAndViews() throws {
        try withConnection(.writer) { db in
            try db.execute(
                sql: """
                    CREATE TEMP TABLE t (x); CREATE TEMP TABLE fired (x); CREATE TEMP VIEW v AS SELECT 1;
                    CREATE TEMP TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO fired VALUES (1); END;
                    INSERT INTO t VALUES (1);
                    """)
            let fired = try Int.fetchOne(db, sql: "SELECT count(*) FROM fired")
            #expect(fired == 0)
        }
    }

    @Test("L6: rows and statements are limited in size", arguments: Access.allCases)
    func limits(access: Access) throws {
        func list(_ count: Int) -> String { Array(repeating: "1", count: count).joined(separator: ", ") }
        func nested(_ depth: Int) -> String {
            String(repeating: "(1 + ", count: depth) + "1" + String(repeating: ")", count: depth)
        }
        try withConnection(access) { db in
            let length = ValueLimit.row
            #expect(code(db, "SELECT length(zeroblob(\(length)))") == nil)
            #expect(code(db, "SELECT length(zeroblob(\(length + 1)))") == .SQLITE_TOOBIG)
            #expect(code(db, "SELECT \(list(100))") == nil)
            #expect(code(db, "SELECT \(list(101))") == .SQLITE_ERROR)
            #expect(code(db, "SELECT \(nested(20))") == nil)
            #expect(code(db, "SELECT \(nested(60))") == .SQLITE_ERROR)
            #expect(code(db, "SELECT max(\(list(8)))") == nil)
            #expect(code(db, "SELECT max(\(list(9)))") == .SQLITE_ERROR)
            #expect(code(db, "SELECT 1 --" + String(repeating: " ", count: 100_000)) == .SQLITE_TOOBIG)
            let selects = Array(repeating: "SELECT 1", count: 11)
            #expect(code(db, selects.dropLast().joined(separator: " UNION ALL ")) == nil)
            #expect(code(db, selects.joined(separator: " UNION ALL ")) == .SQLITE_ERROR)
            let mapped = try Int.fetchOne(db, sql: "PRAGMA mmap_size")
            #expect(mapped == 0)
        }
    }
}
