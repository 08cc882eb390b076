import Foundation
import GRDB
import Testing

@testable import Keychain

/// Columns of one row with other contents, while every index still has the entry of the row as it was.
struct DamagedColumns: CustomTestStringConvertible {
    let table: String
    /// The order of the row among the rows of the table.
    let row: Int
    let columns: [String]

    /// The tables whose rows an unlock does not read.
    static let tables = ["item", "directory", "past", "item_key", "secret"]

    var testDescription: String { "\(table) \(row): \(columns.joined(separator: ", "))" }

    /// Each column of each row alone, then each pair of columns of a row.
    static func all(of path: String) throws -> [DamagedColumns] {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try queue.read { db in
            var (single, pairs): ([DamagedColumns], [DamagedColumns]) = ([], [])
            for table in tables {
                let columns = try db.columns(in: table).map(\.name)
                for row in 0..<(try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table) NOT INDEXED") ?? 0) {
                    for (number, column) in columns.enumerated() {
                        single.append(DamagedColumns(table: table, row: row, columns: [column]))
                        pairs += columns[..<number].map {
                            DamagedColumns(table: table, row: row, columns: [$0, column])
                        }
                    }
                }
            }
            return single + pairs
        }
    }

    /// Damages the row in a closed file.
    ///
    /// - Parameter changesIndexes: Whether the indexes get the entries of the damaged row, as after a rebuild.
    /// - Returns: The number of the row, before and after: that of the item for an item key.
    func apply(to path: String, changesIndexes: Bool = false) throws -> Set<RowID> {
        let key = table == "item_key" ? ["item", "kind"] : ["id"]
        let queue = try DatabaseQueue(path: path)
        let (place, changes) = try queue.read { db in
            let order = key.joined(separator: ", ")
            let row = try #require(
                try Row.fetchOne(db, sql: "SELECT \(order) FROM \(table) ORDER BY \(order) LIMIT 1 OFFSET \(row)"))
            let changes = try db.columns(in: table).filter { columns.contains($0.name) }
                .map { "\($0.name) = \(Self.other($0))" }
            return (key.map { "\($0) = \(row[$0] as Int64)" }, changes.joined(separator: ", "))
        }
        let sql = "UPDATE \(table) SET \(changes) WHERE \(place.joined(separator: " AND "))"
        if changesIndexes { try queue.writeWithoutTransaction { try $0.execute(sql: sql) } }
        try queue.close()
        if !changesIndexes { try RowEditor(path).edit(table, sql) }
        let number = try #require(Int64(place[0].split(separator: " ")[2]))
        return [RowID(rawValue: number), RowID(rawValue: number + Self.distance)]
    }

    private static let distance: Int64 = 1000

    /// Another value of the type of a column.
    private static func other(_ column: ColumnInfo) -> String {
        guard column.type == "BLOB" else { return "coalesce(\(column.name), 0) + \(distance)" }
        return "randomblob(max(16, coalesce(length(\(column.name)), 0)))"
    }
}
