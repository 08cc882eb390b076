import Keychain
import KeychainTesting
import Testing

@testable import KeychainStorage

@Suite("S7: all items of a store, for every store")
struct CompleteTableTests {
    @Test("rows are returned from all directories, in the order of IDs, in pages", arguments: StoreKind.allCases)
    func pages(_ kind: StoreKind) throws {
        let (store, keep) = try kind.make()
        defer { store.close() }
        let items = try (Int64(1)...9).map { try Samples.item($0, directory: 20 + $0 % 2) }
        try withExtendedLifetime(keep) {
            try store.write { writer throws(KeychainFault) in
                for item in items.reversed() { try writer.put(item, secret: [1]) }
                let page = try writer.items(after: .none, limit: 2)
                #expect(page == Array(items[..<2]), "within a change too")
            }
            try store.read { reader throws(KeychainFault) in
                let third = RowID(rawValue: 3)
                #expect(try reader.items(after: third, limit: 4) == Array(items[3..<7]))
                #expect(try reader.items(after: .none, limit: 99) == items)
                #expect(try reader.items(after: RowID(rawValue: 9), limit: 4).isEmpty)
                #expect(try reader.itemIDs(after: third, limit: 4) == items[3..<7].map(\.id))
                #expect(try reader.itemIDs(after: RowID(rawValue: 9), limit: 4).isEmpty)
            }
        }
    }
}
