import Foundation
import GRDB
import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain
@testable import KeychainStorage

/// The fixture with rows removed, swapped, mixed, and put back from an older copy.
@Suite("S2, S4: rows that were removed, swapped or restored by another program")
struct EveryRowTests {
    private static let tables = ["item", "directory", "secret", "class_key", "slot", "device"]

    private struct Edit {
        let name: String
        let sql: [String]
        /// The items that may be missing; nil: as many as the missing keys seal.
        let damaged: Set<RowID>?
    }

    private static func ids(_ sql: String) throws -> [Int64] {
        let fixture = try StoreFixture()
        let queue = try DatabaseQueue(path: fixture.path)
        defer { try? queue.close() }
        return try queue.read { try Int64.fetchAll($0, sql: sql) }
    }

    private static func columns(_ table: String) throws -> [(name: String, isInteger: Bool)] {
        let fixture = try StoreFixture()
        let queue = try DatabaseQueue(path: fixture.path)
        defer { try? queue.close() }
        return try queue.read { try $0.columns(in: table).map { ($0.name, $0.type == "INTEGER") } }
    }

    /// The items to which rows of a table belong: none for directories.
    private static func items(of table: String, _ rows: [Int64]) throws -> Set<RowID> {
        let items = try secretRows.get()
        return switch table {
        case "item": Set(rows.map(RowID.init(rawValue:)))
        case "secret": Set(rows.compactMap { items[$0] })
        default: []
        }
    }

    /// The items by the rows of their long secrets.
    private static let secretRows: Result<[Int64: RowID], any Error> = Result {
        let items = try ids("SELECT id FROM item WHERE secret_row IS NOT NULL ORDER BY id")
        let rows = try ids("SELECT secret_row FROM item WHERE secret_row IS NOT NULL ORDER BY id")
        return Dictionary(uniqueKeysWithValues: zip(rows, items.map(RowID.init(rawValue:))))
    }

    private func hold(_ edits: [Edit], _ length: ProofLength, _ what: String) throws {
        var cases = 0
        for number in length.spread(edits.count) where !length.isOver(after: cases) {
            let fixture = try StoreFixture()
            try fixture.execute(edits[number].sql)
            let complaints = try DamagedFixture(fixture).complaints(damaged: edits[number].damaged)
            #expect(complaints == [], "KEYCHAINFS_PROOF_SEED=\(number): \(edits[number].name)")
            cases += 1
        }
        #expect(cases > 0)
        length.report(what, cases: cases)
    }

    @Test("S4: with each row of each table removed, only its contents are missing")
    func removed() throws {
        var edits: [Edit] = []
        for id in try Self.ids("SELECT id FROM item") {
            edits.append(
                Edit(name: "item \(id)", sql: ["DELETE FROM item WHERE id = \(id)"], damaged: [RowID(rawValue: id)]))
        }
        for id in try Self.ids("SELECT id FROM secret") {
            edits.append(
                Edit(
                    name: "secret \(id)", sql: ["DELETE FROM secret WHERE id = \(id)"],
                    damaged: try Self.items(of: "secret", [id])))
        }
        for id in try Self.ids("SELECT id FROM directory") {
            edits.append(Edit(name: "directory \(id)", sql: ["DELETE FROM directory WHERE id = \(id)"], damaged: []))
        }
        for table in ["class_key", "slot", "device"] {
            for row in 0..<(try Self.ids("SELECT 1 FROM \(table)").count) {
                let key = table == "class_key" ? "(purpose, generation, device, wrapping)" : "id"
                let columns = table == "class_key" ? "purpose, generation, device, wrapping" : "id"
                let sql = "DELETE FROM \(table) WHERE \(key) IN (SELECT \(columns) FROM \(table) LIMIT 1 OFFSET \(row))"
                edits.append(Edit(name: "\(table) \(row)", sql: [sql], damaged: nil))
            }
        }
        try hold(edits, ProofLength(cases: 15), "removed")
    }

    @Test("S2, S4: each row swapped with each other of its table, by number and column by column")
    func swapped() throws {
        var edits: [Edit] = []
        for table in ["item", "directory", "secret"] {
            let ids = try Self.ids("SELECT id FROM \(table)")
            let columns = try Self.columns(table).map(\.name).filter { $0 != "id" }
            for a in ids {
                for b in ids where a < b {
                    // The items of swapped directories stay; the swapped rows are created again or found in lost+found.
                    let damaged = try Self.items(of: table, [a, b])
                    for column in [nil] + columns.map(Optional.some) {
                        let name = "\(table) \(a) and \(b), \(column ?? "numbers")"
                        edits.append(Edit(name: name, sql: Self.swap(table, "id", a, b, column), damaged: damaged))
                    }
                }
            }
        }
        try hold(edits, ProofLength(cases: 15), "swapped")
    }

    /// Unique tags: one of the two steps aside.
    private static func swap(_ table: String, _ key: String, _ a: Int64, _ b: Int64, _ column: String?) -> [String] {
        guard let column else {
            return [
                "UPDATE \(table) SET \(key) = -1 WHERE \(key) = \(a)",
                "UPDATE \(table) SET \(key) = \(a) WHERE \(key) = \(b)",
                "UPDATE \(table) SET \(key) = \(b) WHERE \(key) = -1",
            ]
        }
        return [
            "CREATE TEMP TABLE IF NOT EXISTS kept (a, b)", "DELETE FROM kept",
            """
            INSERT INTO kept SELECT (SELECT \(column) FROM \(table) WHERE \(key) = \(a)), \
            (SELECT \(column) FROM \(table) WHERE \(key) = \(b))
            """,
            column.contains("tag") ? "UPDATE \(table) SET \(column) = randomblob(16) WHERE \(key) = \(a)" : "SELECT 1",
            "UPDATE \(table) SET \(column) = (SELECT a FROM kept) WHERE \(key) = \(b)",
            "UPDATE \(table) SET \(column) = (SELECT b FROM kept) WHERE \(key) = \(a)",
        ]
    }

    @Test("S4: with each column of each row of items and directories changed, only that row is damaged")
    func changed() throws {
        var edits: [Edit] = []
        for table in ["item", "directory", "secret"] {
            for id in try Self.ids("SELECT id FROM \(table)") {
                for (column, isInteger) in try Self.columns(table) {
                    let change = isInteger ? "coalesce(\(column), 0) + 1000" : "randomblob(16)"
                    let sql = "UPDATE \(table) SET \(column) = \(change) WHERE id = \(id)"
                    let damaged = try Self.items(of: table, [id])
                    edits.append(Edit(name: "\(table) \(id), \(column)", sql: [sql], damaged: damaged))
                }
            }
        }
        try hold(edits, ProofLength(cases: 15), "changed")
    }
}
