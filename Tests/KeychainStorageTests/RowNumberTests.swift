import Foundation
import GRDB
import Testing

@testable import Keychain
@testable import KeychainStorage

/// Rows with the highest possible numbers, as another program could write them to the file.
@Suite("S4: numbers of rows")
struct RowNumberTests {
    @Test("a number that was never assigned is ignored if another one has free numbers after it")
    func crowdedRowIDs() throws {
        let usual = RowID.lastUsual.rawValue
        for kind in StoreKind.allCases {
            let (store, keep) = try kind.make()
            defer { withExtendedLifetime(keep) { store.close() } }
            func unused(_ items: [Int64], from next: Int64 = 1) throws -> Int64? {
                let records = try items.map { try Samples.item($0) }
                let found = try? store.write { writer throws(KeychainFault) in
                    for record in records { try writer.put(record, secret: nil) }
                    let id = try writer.firstUnusedRowID(from: RowID(rawValue: next)).rawValue
                    for record in records { try writer.deleteItem(record.id) }
                    return id
                }
                return found
            }
            #expect(try unused([5, .max]) == 6)
            #expect(try unused([5, 1 << 62]) == 6)
            #expect(try unused([5, (1 << 62) - 1, usual + RowID.tableCapacity]) == 6)
            #expect(try unused([5, usual - 1]) == usual)
            #expect(try unused([5, usual]) == 6)
            // New rows were numbered after a damaged one, and no free numbers follow them.
            #expect(try unused([5, usual - 1, usual, usual + 1]) == 6)
            #expect(try unused([5, usual], from: 10) == 10)
            #expect(try unused([5, 20, usual], from: 10) == 21)
            #expect(try unused([usual, 5 + RowID.tableCapacity]) == 6 + RowID.tableCapacity)
            #expect(try unused([-7, .min]) == 1)
            #expect(try unused([-7, usual]) == 1)
        }
    }

    @Test("an unused row number: of no item, directory or long secret, and not below the requested one")
    func unusedRowID() throws {
        for kind in StoreKind.allCases {
            let (store, keep) = try kind.make()
            defer { withExtendedLifetime(keep) { store.close() } }
            func unused(_ next: Int64) throws -> Int64 {
                try store.read { reader throws(KeychainFault) in
                    try reader.firstUnusedRowID(from: RowID(rawValue: next))
                }.rawValue
            }
            #expect(try unused(1) == 1)
            var items = try [Samples.item(5), Samples.item(7)]
            let directory = try Samples.directory(9)
            items[0].secretRow = RowID(rawValue: 11)
            try store.write { [items] writer throws(KeychainFault) in
                for item in items { try writer.put(item, secret: item.secretRow == nil ? nil : Samples.longSecret) }
            }
            #expect(try unused(1) == 12)
            items[0].secretRow = nil
            try store.write { [items] writer throws(KeychainFault) in
                try writer.put(items[0], secret: [])
                try writer.put(directory)
            }
            #expect(try unused(1) == 10)
            #expect(try unused(50) == 50)
            try store.write { [items] writer throws(KeychainFault) in
                try writer.deleteDirectory(directory.id)
                for item in items { try writer.deleteItem(item.id) }
            }
            #expect(try unused(1) == 1)
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
