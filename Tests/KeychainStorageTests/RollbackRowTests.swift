import Foundation
import GRDB
import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain
@testable import KeychainStorage

/// Rows of an older copy of the same keychain, of a clone and of another keychain, put into a newer one. It is reported
/// each time, each read value was written at some time, and the other rows stay usable.
@Suite("S2, S3, S4: rows put back, and rows of other stores")
struct RollbackRowTests {
    private static let keys = [
        "store": "id", "slot": "id", "device": "id", "class_key": "purpose, generation, device, wrapping",
        "user_key": "generation", "directory": "id", "item": "id", "secret": "id",
    ]
    private static let tables = keys.keys.sorted()

    private static let newer: Result<ChangedFixture, any Error> = Result { try ChangedFixture(mark: 1) }
    private static let clone: Result<ChangedFixture, any Error> = Result { try ChangedFixture(mark: 2) }
    private static let other: Result<Data, any Error> = Result { try anotherKeychain() }

    /// A keychain with other keys, and rows in each table.
    private static func anotherKeychain() throws -> Data {
        let scratch = try TemporaryDirectory()
        let vault = try SQLiteKeychainFixture(creating: scratch.keychain)
        for number in 1...3 { try vault.add("other \(number)", [UInt8](repeating: 9, count: 700 * number)) }
        vault.close()
        return try Data(contentsOf: URL(fileURLWithPath: scratch.keychain))
    }

    private struct Edit {
        let name: String
        let sql: [String]
        /// The items that may be missing; nil: any.
        let damaged: Set<RowID>?
    }

    // MARK: Edits

    /// Returns edits that make each differing row equal to that in `source`, or delete it if `source` lacks it.
    private static func rows(of source: Data, in target: Data) throws -> [Edit] {
        let (path, keep) = try file(source)
        defer { withExtendedLifetime(keep) {} }
        let fixture = try StoreFixture(bytes: target)
        let queue = try DatabaseQueue(path: fixture.path)
        defer { try? queue.close() }
        return try queue.writeWithoutTransaction { db in
            try db.execute(sql: "ATTACH ? AS source", arguments: [path])
            return try tables.flatMap { table in try rows(of: table, db) }
        }
    }

    private static func rows(of table: String, _ db: Database) throws -> [Edit] {
        let key = try #require(keys[table])
        let differing = """
            SELECT DISTINCT \(key) FROM (SELECT * FROM (SELECT * FROM main.\(table) EXCEPT SELECT * FROM source.\(table)) \
            UNION ALL SELECT * FROM (SELECT * FROM source.\(table) EXCEPT SELECT * FROM main.\(table)))
            """
        return try Row.fetchAll(db, sql: differing).map { row in
            let columns = key.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            let place = columns.map { "\($0) = \(row[$0] as Int64)" }.joined(separator: " AND ")
            return Edit(
                name: "\(table) \(place)",
                sql: [
                    "DELETE FROM \(table) WHERE \(place)",
                    "INSERT OR REPLACE INTO main.\(table) SELECT * FROM source.\(table) WHERE \(place)",
                ], damaged: try items(of: table, row[columns[0]], db))
        }
    }

    /// The items to which a row belongs: none for directories, nil for keys, which may seal any.
    private static func items(of table: String, _ id: Int64, _ db: Database) throws -> Set<RowID>? {
        switch table {
        case "item": return [RowID(rawValue: id)]
        case "directory": return []
        case "secret":
            let schemas = try String.fetchAll(db, sql: "SELECT name FROM pragma_database_list")
            let items = try schemas.flatMap { schema in
                try Int64.fetchAll(
                    db, sql: "SELECT id FROM \"\(schema)\".item WHERE secret_row = ?", arguments: [id])
            }
            return Set(items.map(RowID.init(rawValue:)))
        default: return nil
        }
    }

    /// Every set of tables, without those that make it the other keychain: devices are the same in all.
    private static func tableSets() -> [Edit] {
        (1..<1 << tables.count).compactMap { set in
            let chosen = tables.indices.filter { set >> $0 & 1 == 1 }.map { tables[$0] }
            guard Set(chosen).union(["device"]).count < tables.count else { return nil }
            let sql = chosen.flatMap { table in
                ["DELETE FROM \(table)", "INSERT INTO main.\(table) SELECT * FROM source.\(table)"]
            }
            return Edit(name: chosen.joined(separator: ", "), sql: sql, damaged: nil)
        }
    }

    /// All columns of each row but its number, from some row of another keychain.
    private static func foreignRows() throws -> [Edit] {
        let fixture = try StoreFixture()
        let queue = try DatabaseQueue(path: fixture.path)
        defer { try? queue.close() }
        return try queue.read { db in
            try ["item", "directory", "secret"].flatMap { table in
                let key = try #require(keys[table])
                let columns = try db.columns(in: table).map(\.name).filter { $0 != key }.joined(separator: ", ")
                return try Int64.fetchAll(db, sql: "SELECT \(key) FROM \(table)").enumerated().map { number, id in
                    let source = "SELECT \(columns) FROM source.\(table) ORDER BY \(key) LIMIT 1"
                    let sql = """
                        UPDATE main.\(table) SET (\(columns)) = (\(source) OFFSET \(number) % \
                        (SELECT count(*) FROM source.\(table))) WHERE \(key) = \(id)
                        """
                    return Edit(name: "\(table) \(id)", sql: [sql], damaged: try items(of: table, id, db))
                }
            }
        }
    }

    // MARK: Judging

    private static func file(_ bytes: Data) throws -> (path: String, keep: TemporaryDirectory) {
        let scratch = try TemporaryDirectory()
        try bytes.write(to: URL(fileURLWithPath: scratch["source"]))
        return (scratch["source"], scratch)
    }

    /// Returns whether the change is reported: opening or unlocking fails, the keychain is older than the stored
    /// number, or `check` reports it.
    private static func isDetected(_ fixture: StoreFixture, kept: Int64) throws -> Bool {
        let keychain: KeychainStore
        do { keychain = try fixture.opened() } catch is StoreFixture.Failure { return true }
        defer { keychain.store.close() }
        let record = try keychain.store.read { (reader) throws(KeychainFault) in try reader.store() }
        guard let header = try? keychain.keys.header(of: record) else { return true }
        return try header.commit < kept || !keychain.check().isConsistent
    }

    /// - Parameter older: what is as true as the newest.
    private func hold(
        _ edits: [Edit], of source: Data, in target: ChangedFixture, older: [RowID: FixtureContents.Value] = [:],
        _ length: ProofLength, _ what: String
    ) throws {
        let (path, keep) = try Self.file(source)
        defer { withExtendedLifetime(keep) {} }
        var cases = 0
        for number in length.spread(edits.count) where !length.isOver(after: cases) {
            let edit = edits[number]
            let fixture = try StoreFixture(bytes: target.bytes)
            try fixture.execute(["ATTACH '\(path)' AS source"] + edit.sql)
            let place = "KEYCHAINFS_PROOF_SEED=\(number): \(what): \(edit.name)"
            if try Data(contentsOf: URL(fileURLWithPath: fixture.path)) != target.bytes {
                #expect(try Self.isDetected(fixture, kept: target.commit), "\(place): nobody is told")
            }
            let damaged = try DamagedFixture(fixture, truth: target.truth)
            #expect(try damaged.complaints(damaged: edit.damaged, older: older) == [], "\(place)")
            cases += 1
        }
        #expect(cases > 0)
        length.report(what, cases: cases)
    }

    // MARK: Cases

    @Test("S2: each row as it was in an older copy of the same keychain")
    func olderRows() throws {
        let (newer, older) = (try Self.newer.get(), try StoreFixture.bytes.get())
        let edits = try Self.rows(of: older, in: newer.bytes)
        #expect(edits.count > 60)
        try hold(
            edits, of: older, in: newer, older: FixtureContents.complete.get().items, ProofLength(cases: 12),
            "older-rows")
    }

    @Test("S2, S3: each set of tables as it was in an older copy, the whole file among them")
    func olderTables() throws {
        let (newer, older) = (try Self.newer.get(), try StoreFixture.bytes.get())
        try hold(
            Self.tableSets(), of: older, in: newer, older: FixtureContents.complete.get().items, ProofLength(cases: 12),
            "older-tables")
        // The complete file is consistent: only its commit number differs.
        let complete = try StoreFixture(bytes: older)
        #expect(try ChangedFixture.commit(of: complete) < newer.commit)
    }

    @Test("S2: each row as it is in a clone that has equal keys, numbers and versions")
    func cloneRows() throws {
        let (newer, clone) = (try Self.newer.get(), try Self.clone.get())
        let edits = try Self.rows(of: clone.bytes, in: newer.bytes)
        #expect(edits.count > 60)
        try hold(edits, of: clone.bytes, in: newer, older: clone.truth.items, ProofLength(cases: 12), "clone-rows")
        try hold(
            Self.tableSets(), of: clone.bytes, in: newer, older: clone.truth.items, ProofLength(cases: 6),
            "clone-tables")
    }

    @Test("S3: rows and tables of another keychain")
    func foreign() throws {
        let (newer, other) = (try Self.newer.get(), try Self.other.get())
        try hold(Self.foreignRows(), of: other, in: newer, ProofLength(cases: 12), "foreign-rows")
        try hold(Self.tableSets(), of: other, in: newer, ProofLength(cases: 6), "foreign-tables")
    }
}
