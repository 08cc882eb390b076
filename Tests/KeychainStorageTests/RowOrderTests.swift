import Foundation
import GRDB
import Testing

@testable import Keychain
@testable import KeychainStorage

/// Rows that are not in the order of their numbers in their page, as after a flipped bit of a number.
@Suite("S4: rows out of order")
struct RowOrderTests {
    private let scratch: TemporaryDirectory
    private let directory: RowID

    init() throws {
        scratch = try TemporaryDirectory()
        let fixture = try SQLiteKeychainFixture(creating: scratch.keychain)
        directory = fixture.directory
        for number in 1...4 {
            try fixture.add("item \(number)", [UInt8(number)])
            try fixture.keychain.change { change throws(KeychainFault) in
                let container = try change.container(ContainerKey(itemClass: .genericPassword), file: .sample)
                let service = Directory.Key.service(.generic(service: .string("service \(number)")))
                _ = try change.addDirectory(service, in: container.id, file: .sample)
            }
        }
        fixture.close()
    }

    /// Reverses the pointers to the cells of a table's only page:
    /// <https://www.sqlite.org/fileformat2.html#b_tree_pages>
    private func reverse(_ table: String) throws -> SQLiteKeychainFixture {
        let queue = try DatabaseQueue(path: scratch.keychain)
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?"
        let page = try queue.read { try Int.fetchOne($0, sql: sql, arguments: [table]) }
        try queue.close()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: scratch.keychain))
        let start = (try #require(page) - 1) * 4096
        let isLeaf = bytes[start] == 13
        try #require(isLeaf)
        let count = Int(bytes[start + 3]) << 8 | Int(bytes[start + 4])
        let pointers = (0..<count).map { [UInt8](bytes[(start + 8 + 2 * $0)...].prefix(2)) }
        bytes.replaceSubrange((start + 8)..<(start + 8 + 2 * count), with: pointers.reversed().flatMap { $0 })
        try bytes.write(to: URL(fileURLWithPath: scratch.keychain))
        return try SQLiteKeychainFixture(opening: scratch.keychain, directory: directory)
    }

    @Test("a scan of all rows ends, and reports that they cannot be read", arguments: ["item", "directory"])
    func verification(table: String) throws {
        let fixture = try reverse(table)
        defer { fixture.close() }
        let pass = IntegrityScan(fixture.store, ledger: fixture.ring.ledger, pageSize: 4)
        var steps = 0
        var fault: IntegrityFault?
        loop: while steps < 100 {
            steps += 1
            if case .finished(let found) = try pass.step() {
                fault = found
                break loop
            }
        }
        #expect(fault == .rowsUnreadable)
        #expect(try !fixture.keychain.check().isConsistent)
    }

    @Test("a page of rows is in order, or nothing")
    func pages() throws {
        let fixture = try reverse("item")
        defer { fixture.close() }
        #expect(throws: KeychainFault.decode) {
            try fixture.store.read { reader throws(KeychainFault) in try reader.itemIDs(after: .none, limit: 10) }
        }
    }

    @Test("the deletion of all items of a class is complete, or the change fails")
    func deletion() throws {
        let fixture = try reverse("item")
        defer { fixture.close() }
        let digest = try fixture.ring.ledger.digest()
        #expect(throws: KeychainFault.decode) {
            try fixture.store.write { writer throws(KeychainFault) in
                try DigestingWriter(writer, digest: digest).deleteItems(of: .whenUnlocked)
            }
        }
    }
}
