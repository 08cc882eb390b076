import Foundation
import GRDB
import TestSupport

@testable import KeychainStorage

/// Something that a disk, a program or an attacker does to the file of a keychain, without a key.
enum RandomDamage: String, CaseIterable, Sendable {
    case bits, page, exchangedPages, indexEntries, hiddenRow, column, deletedRow

    private static let pageSize = 4096

    /// Does it to the closed file; what it did, for the report of a failure.
    func apply(to path: String, _ generator: inout SeededGenerator) throws -> String {
        switch self {
        case .bits: try Self.edit(path, &generator, Self.flipBits)
        case .page: try Self.edit(path, &generator, Self.overwritePage)
        case .exchangedPages: try Self.edit(path, &generator, Self.exchangePages)
        case .indexEntries: try Self.editIndex(path, &generator)
        case .hiddenRow: try Self.hideRow(path, &generator)
        case .column: try Self.editColumn(path, &generator)
        case .deletedRow: try Self.deleteRow(path, &generator)
        }
    }

    // MARK: Bytes

    private static func edit(
        _ path: String, _ generator: inout SeededGenerator, _ body: (inout Data, inout SeededGenerator) -> String
    ) throws -> String {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let text = body(&bytes, &generator)
        try bytes.write(to: URL(fileURLWithPath: path))
        return text
    }

    private static func flipBits(_ bytes: inout Data, _ generator: inout SeededGenerator) -> String {
        let places = (0..<Int.random(in: 1...4, using: &generator)).map { _ in
            Int.random(in: 0..<bytes.count, using: &generator)
        }
        for place in places { bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator) }
        return "bits at \(places)"
    }

    private static func page(_ bytes: Data, _ generator: inout SeededGenerator) -> Range<Int> {
        let number = Int.random(in: 1..<bytes.count / pageSize, using: &generator)
        return number * pageSize..<(number + 1) * pageSize
    }

    private static func overwritePage(_ bytes: inout Data, _ generator: inout SeededGenerator) -> String {
        let page = page(bytes, &generator)
        let part = page.lowerBound..<page.lowerBound + Int.random(in: 1...pageSize, using: &generator)
        let isZero = Bool.random(using: &generator)
        bytes.replaceSubrange(
            part, with: part.map { _ in isZero ? 0 : UInt8.random(in: 0...255, using: &generator) })
        return "page \(page.lowerBound / pageSize + 1), \(part.count) bytes"
    }

    private static func exchangePages(_ bytes: inout Data, _ generator: inout SeededGenerator) -> String {
        let (first, second) = (page(bytes, &generator), page(bytes, &generator))
        let old = bytes.subdata(in: first)
        bytes.replaceSubrange(first, with: bytes.subdata(in: second))
        if Bool.random(using: &generator) { bytes.replaceSubrange(second, with: old) }
        return "pages \(first.lowerBound / pageSize + 1) and \(second.lowerBound / pageSize + 1)"
    }

    // MARK: Indexes

    private static func editIndex(_ path: String, _ generator: inout SeededGenerator) throws -> String {
        let index = StoreIndex.all[Int.random(in: 0..<StoreIndex.all.count, using: &generator)]
        let count = [1, 1, 2, 50][Int.random(in: 0..<4, using: &generator)]
        let rows =
            "id IN (SELECT id FROM entries ORDER BY (id * \(Int.random(in: 3...9999, using: &generator))) % 10007 LIMIT \(count))"
        let newKey = index.isOfTags ? blob(16, &generator) : "key + \(Int.random(in: 1...3, using: &generator))"
        let kind = index.table == "item_key" ? ", kind" : ""
        let statements = [
            "DELETE FROM entries WHERE \(rows)", "UPDATE OR IGNORE entries SET key = \(newKey) WHERE \(rows)",
            "UPDATE OR IGNORE entries SET id = id + \(Int.random(in: 1...5, using: &generator)) WHERE \(rows)",
            "INSERT OR IGNORE INTO entries SELECT \(newKey), id\(kind) FROM entries WHERE \(rows)",
        ]
        let sql = statements[Int.random(in: 0..<statements.count, using: &generator)]
        try IndexEditor(path).edit(index.name, key: index.isOfTags ? "BLOB" : "INTEGER", sql)
        return "\(index.name): \(sql)"
    }

    private static func blob(_ count: Int, _ generator: inout SeededGenerator) -> String {
        let digits = (0..<count).map { _ in String(Int.random(in: 16...255, using: &generator), radix: 16) }
        return "X'\(digits.joined())'"
    }

    private static func hideRow(_ path: String, _ generator: inout SeededGenerator) throws -> String {
        let table = Bool.random(using: &generator) ? "item" : "directory"
        let row = try row(of: table, path, &generator)
        for index in StoreIndex.all where index.table == table && Bool.random(using: &generator) {
            let sql = "DELETE FROM entries WHERE id = \(row)"
            try IndexEditor(path).edit(index.name, key: index.isOfTags ? "BLOB" : "INTEGER", sql)
        }
        return "\(table) \(row) hidden"
    }

    // MARK: Rows

    private static func row(of table: String, _ path: String, _ generator: inout SeededGenerator) throws -> Int64 {
        let rows = try ClosedDatabase(path: path).perform { try Int64.fetchAll($0, sql: "SELECT id FROM \(table)") }
        return rows[Int.random(in: 0..<rows.count, using: &generator)]
    }

    private static func editColumn(_ path: String, _ generator: inout SeededGenerator) throws -> String {
        let table = ["item", "directory", "class_key"][Int.random(in: 0..<3, using: &generator)]
        let columns = try ClosedDatabase(path: path).perform { try $0.columns(in: table).map(\.name) }
        let column = columns[Int.random(in: 0..<columns.count, using: &generator)]
        let value = [
            "(SELECT other.\(column) FROM \(table) AS other LIMIT 1 OFFSET \(Int.random(in: 0..<8, using: &generator)))",
            "CASE typeof(\(column)) WHEN 'integer' THEN \(column) + 1 "
                + "ELSE CAST(substr(\(blob(64, &generator)), 1, length(\(column))) AS BLOB) END",
        ][Int.random(in: 0..<2, using: &generator)]
        let condition =
            table == "class_key"
            ? "purpose = \(Int.random(in: 6...12, using: &generator))" : "id = \(try row(of: table, path, &generator))"
        let sql = "UPDATE OR IGNORE \(table) SET \(column) = \(value) WHERE \(condition)"
        try ClosedDatabase(path: path).perform { try $0.execute(sql: sql) }
        return sql
    }

    private static func deleteRow(_ path: String, _ generator: inout SeededGenerator) throws -> String {
        let table = Bool.random(using: &generator) ? "item" : "directory"
        let sql = "DELETE FROM \(table) WHERE id = \(try row(of: table, path, &generator))"
        try ClosedDatabase(path: path).perform { try $0.execute(sql: sql) }
        return sql
    }
}
