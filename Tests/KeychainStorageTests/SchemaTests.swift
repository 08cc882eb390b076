import Foundation
import GRDB
import Keychain
import Testing

@testable import KeychainStorage

@Suite("the schema")
struct SchemaTests {
    private func query<Value: DatabaseValueConvertible & Sendable>(
        _ store: SQLiteRecordStore, _ type: Value.Type, _ sql: String
    ) throws -> [Value] {
        try store.current().perform { db throws(KeychainFault) in
            try KeychainFault.mapping(db) { try Value.fetchAll(db, sql: sql) }
        }
    }

    private func withStore(_ body: (SQLiteRecordStore) throws -> Void) throws {
        let scratch = try TemporaryDirectory()
        let store = try SQLiteRecordStore.create(at: scratch.keychain) { $0 }
        defer { store.close() }
        try withExtendedLifetime(scratch) { try body(store) }
    }

    /// A change of this list changes what is readable in the file, and the format.
    @Test("S2: tables have the columns of the records and no other, nonces before ciphertexts")
    func columns() throws {
        let expected = [
            "store": """
            id identifier salt passes memory user_key_generation master_key_generation reader_mask \
            writer_mask master_keys_seal master_keys header_seal header
            """,
            "slot": """
            id kind user_key_generation ephemeral parameters user_key_seal user_key recipient_seal recipient
            """,
            "device": "id tag mark mark_id",
            "class_key": "purpose generation device wrapping user_key_generation keys_seal keys",
            "user_key": "generation key_seal key",
            "directory": """
            id parent version master_key_generation tag always_tag name_seal always_name_seal name \
            always_name
            """,
            "item": """
            id directory version protection generation master_key_generation secret_row tag always_tag \
            ephemeral mac metadata_seal secret_seals metadata secret
            """,
            "past": """
            id protection generation master_key_generation secret_row tag info_seal secret_seals info \
            metadata secret
            """,
            "item_key": "item kind tag",
            "secret": "id ciphertext",
        ]
        try withStore { store throws in
            let tables = try query(
                store, String.self,
                "SELECT name FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite%'")
            #expect(Set(tables) == Set(expected.keys))
            for (table, columns) in expected {
                let found = try query(store, String.self, "SELECT name FROM pragma_table_info('\(table)')")
                #expect(found.joined(separator: " ") == columns)
                let strict = try query(
                    store, Int.self, "SELECT strict FROM pragma_table_list WHERE name = '\(table)'")
                #expect(strict == [1])
            }
        }
    }

    @Test("S1, S8: the connection is durable, exclusive and wipes what it deletes")
    func settings() throws {
        try withStore { store throws in
            #expect(try query(store, String.self, "PRAGMA journal_mode") == ["wal"])
            #expect(try query(store, Int.self, "PRAGMA synchronous") == [2])
            #expect(try query(store, Int.self, "PRAGMA secure_delete") == [1])
            #expect(try query(store, Int.self, "PRAGMA temp_store") == [2])
            #expect(try query(store, Int.self, "PRAGMA trusted_schema") == [0])
            #expect(try query(store, Int.self, "PRAGMA cell_size_check") == [1])
            #expect(try query(store, Int.self, "PRAGMA page_size") == [4096])
            #expect(try query(store, Int.self, "PRAGMA application_id") == [0x4B43_4653])
            #expect(try query(store, Int.self, "PRAGMA user_version") == [2])
            #expect(try query(store, Int.self, "PRAGMA busy_timeout") == [0])
            // With an index of the log on disk, others could read.
            let files = try query(store, String.self, "SELECT file FROM pragma_database_list")
            #expect(files.count == 1)
            #expect(files.allSatisfy { !FileManager.default.fileExists(atPath: $0 + "-shm") })
        }
    }

    @Test(
        "S5: look-ups and listings are searches of an index, without a scan or a sort",
        arguments: [
            SQLiteRecords.itemByID, SQLiteRecords.directoryByID, SQLiteRecords.itemsInOrder,
            SQLiteRecords.alwaysItem, SQLiteRecords.ephemeralItems, SQLiteRecords.directoriesInOrder,
            SQLiteRecords.alwaysDirectory,
        ])
    func plans(_ sql: String) throws {
        try withStore { store throws in
            let plan = try explain(store, sql)
            #expect(plan.count == 1)
            #expect(plan.allSatisfy { $0.hasPrefix("SEARCH") })
        }
    }

    @Test(
        "S4, S5: rows found through an index are searched in the index, and read from the table",
        arguments: [
            SQLiteRecords.itemByTag, SQLiteRecords.itemByAlwaysTag, SQLiteRecords.itemsOfDirectory,
            SQLiteRecords.directoryByTag, SQLiteRecords.directoryByAlwaysTag, SQLiteRecords.directoriesOfParent,
        ])
    func indexedPlans(_ sql: String) throws {
        try withStore { store throws in
            let plan = try explain(store, sql)
            #expect(plan.count == 2)
            #expect(plan.first?.hasPrefix("SEARCH entry USING COVERING INDEX") == true)
            #expect(plan.last?.contains("USING INTEGER PRIMARY KEY") == true)
        }
    }

    @Test(
        "S5: a secret is found by searches, without a scan",
        arguments: [SQLiteRecords.secretOfItem, SQLiteRecords.itemWithSecret])
    func secretPlans(_ sql: String) throws {
        try withStore { store throws in
            let plan = try explain(store, sql).filter { !$0.hasPrefix("CORRELATED SCALAR SUBQUERY") }
            #expect(plan.count == 2)
            #expect(plan.allSatisfy { $0.hasPrefix("SEARCH") })
        }
    }

    @Test("S5: the classes of the items below a directory are found by searches; only found rows are scanned")
    func planOfClasses() throws {
        try withStore { store throws in
            let plan = try explain(store, SQLiteRecords.itemClasses)
            #expect(plan.contains { $0.hasPrefix("SEARCH item USING INDEX item_directory") })
            #expect(plan.contains { $0.hasPrefix("SEARCH directory USING COVERING INDEX directory_parent") })
            #expect(!plan.contains { $0.hasPrefix("SCAN item") || $0.hasPrefix("SCAN directory") })
        }
    }

    @Test("S6: a secret of at most 1 KiB is in its item's row, a longer one in a separate table")
    func placesOfSecrets() throws {
        try withStore { store throws in
            for (id, count) in [(Int64(3), 1024), (4, 1025), (5, 0)] {
                var item = try Samples.item(id)
                item.secretRow = count > 1024 ? RowID(rawValue: 9) : nil
                try store.write { [item] writer throws(KeychainFault) in
                    try writer.put(item, secret: Array(repeating: 1, count: count))
                }
            }
            #expect(try query(store, Int.self, "SELECT id FROM item WHERE secret IS NOT NULL") == [3])
            #expect(try query(store, Int.self, "SELECT id FROM secret") == [9])
        }
    }

    /// The lines of EXPLAIN QUERY PLAN, whose fourth column is the text.
    private func explain(_ store: SQLiteRecordStore, _ sql: String) throws -> [String] {
        try store.current().perform { db throws(KeychainFault) in
            try KeychainFault.mapping(db) {
                let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN " + sql)
                statement.setUncheckedArguments([])
                return try Row.fetchAll(statement).map { try $0.decode(String.self, atIndex: 3) }
            }
        }
    }

    @Test("secrets are out of the way: a longer head of a 1 MiB item writes a few pages of log")
    func headsAreSmall() throws {
        let scratch = try TemporaryDirectory()
        let store = try SQLiteRecordStore.create(at: scratch.keychain) { $0 }
        defer { store.close() }
        var item = try Samples.item(3)
        item.secretRow = RowID(rawValue: 9)
        try store.write { [item] writer throws(KeychainFault) in
            try writer.put(item, secret: Array(repeating: 7, count: 1 << 20))
        }
        try store.checkpoint()
        item.metadata = try Samples.sealed(1, count: 1024)
        try store.write { [item] writer throws(KeychainFault) in try writer.put(item, secret: nil) }
        let log = try Data(contentsOf: URL(fileURLWithPath: scratch.keychain + "-wal"))
        // The space after the written bytes is zeros.
        let written = (log.lastIndex { $0 != 0 } ?? 0) + 1
        #expect(written > 4096 && written < 4 * 4200)
    }
}
