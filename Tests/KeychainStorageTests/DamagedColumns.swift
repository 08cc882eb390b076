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
    /// The difference of changed numbers that are not the number of a row: the next one may be another directory, class or
    /// generation of the keychain.
    let distance: Int

    /// The tables whose rows an unlock does not read.
    static let tables = ["item", "directory", "past", "item_key", "secret"]

    var testDescription: String { "\(table) \(row): \(columns.joined(separator: ", ")) by \(distance)" }

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
                        for distance in [1, 1000] {
                            single.append(
                                DamagedColumns(table: table, row: row, columns: [column], distance: distance))
                        }
                        pairs += columns[..<number].map {
                            DamagedColumns(table: table, row: row, columns: [$0, column], distance: 1)
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
                .map { "\($0.name) = \(other($0, isKey: key.contains($0.name)))" }
            return (key.map { "\($0) = \(row[$0] as Int64)" }, changes.joined(separator: ", "))
        }
        let sql = "UPDATE \(table) SET \(changes) WHERE \(place.joined(separator: " AND "))"
        if changesIndexes { try queue.writeWithoutTransaction { try $0.execute(sql: sql) } }
        try queue.close()
        if !changesIndexes { try RowEditor(path).edit(table, sql) }
        let number = try #require(Int64(place[0].split(separator: " ")[2]))
        return [RowID(rawValue: number), RowID(rawValue: number + Self.unused)]
    }

    /// The distance to a row number that no row has.
    private static let unused: Int64 = 1000

    /// Another value of the type of a column.
    private func other(_ column: ColumnInfo, isKey: Bool) -> String {
        guard column.type == "BLOB" else {
            return "coalesce(\(column.name), 0) + \(isKey ? Self.unused : Int64(distance))"
        }
        return "randomblob(max(16, coalesce(length(\(column.name)), 0)))"
    }
}
