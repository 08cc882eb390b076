import Foundation
import GRDB
import Testing

@testable import Keychain
@testable import KeychainStorage

/// Rows with the highest possible numbers, as another program could write them to the file.
@Suite("S4: numbers of rows")
struct RowNumberTests {
    @Test("a number that was never assigned is ignored if another row has a number with free numbers after it")
    func crowdedRowIDs() throws {
        let usual = RowID.lastUsual.rawValue
        for kind in StoreKind.allCases {
            let (store, keep) = try kind.make()
            defer { withExtendedLifetime(keep) { store.close() } }
            func newest(_ items: [Int64], highestRow: Int64 = 0) throws -> Int64? {
                let records = try items.map { try Samples.item($0) }
                var record = try Samples.store()
                record.highestRow = RowID(rawValue: highestRow)
                let found = try? store.write { writer throws(KeychainFault) in
                    try writer.put(record)
                    for record in records { try writer.put(record, secret: nil) }
                    let id = try writer.newestRowID().rawValue
                    for record in records { try writer.deleteItem(record.id) }
                    return id
                }
                return found
            }
            #expect(try newest([5, .max]) == 5)
            #expect(try newest([5, 1 << 62]) == 5)
            #expect(try newest([5, (1 << 62) - 1, usual + RowID.tableCapacity]) == 5)
            #expect(try newest([5, usual - 1]) == usual - 1)
            #expect(try newest([5, usual]) == 5)
            // New rows were numbered after a damaged one, and no free numbers follow them.
            #expect(try newest([5, usual - 1, usual, usual + 1]) == 5)
            #expect(try newest([5, usual], highestRow: 9) == 9)
            #expect(try newest([5, 20, usual], highestRow: 9) == 20)
            #expect(try newest([5], highestRow: 1 << 62) == 5)
            #expect(try newest([usual, 5 + RowID.tableCapacity], highestRow: .min) == 5 + RowID.tableCapacity)
            #expect(try newest([-7, .min]) == 0)
            #expect(try newest([-7, usual]) == 0)
        }
    }

    @Test(
        "S4: a row of a number that was never given out is damaged; the others are read, and new ones get a number",
        arguments: [Int64.max, 1 << 62, (1 << 62) - 1, 1 << 61, (1 << 61) + 5, 0, -1, .min], ["item", "directory"])
    func numbers(_ number: Int64, table: String) throws {
        let scratch = try TemporaryDirectory()
        let fixture = try SQLiteKeychainFixture(creating: scratch.keychain)
        let damaged = try fixture.add("damaged", Array("x".utf8))
        try fixture.add("other", Array("old".utf8))
        let empty = try fixture.keychain.change { change throws(KeychainFault) in
            let container = try change.container(ContainerKey(itemClass: .genericPassword), file: .sample)
            return try change.addDirectory(
                .service(.generic(service: .string("empty"))), in: container.id, file: .sample)
        }
        fixture.close()
        let row = table == "item" ? damaged.id : empty.id
        let queue = try DatabaseQueue(path: scratch.keychain)
        try queue.write {
            try $0.execute(sql: "UPDATE \(table) SET id = ? WHERE id = ?", arguments: [number, row.rawValue])
        }
        try queue.close()
        for turn in 1...2 {
            let again = try SQLiteKeychainFixture(opening: scratch.keychain, directory: fixture.directory)
            #expect(try !again.keychain.check().isConsistent)
            #expect(try again.contents("other") == Array("old".utf8))
            if table == "item" { #expect(throws: KeychainFault.decode) { try again.contents("damaged") } }
            let new = try again.add("new \(turn)", [UInt8(turn)])
            #expect(new.id > damaged.id && new.id < RowID.lastUsual)
            again.close()
        }
        let last = try SQLiteKeychainFixture(opening: scratch.keychain, directory: fixture.directory)
        #expect(try last.contents("new 1") == [1] && last.contents("new 2") == [2])
        last.close()
    }
}
