import Foundation
import GRDB
import Testing

@testable import Keychain
@testable import KeychainStorage

@Suite("S4: damaged pages of tables")
struct DamagedTreeTests {
    @Test("a page with a damaged cell is refused each time, not only when it is read first, and is never changed")
    func damagedCell() async throws {
        let complete = try IntactKeychain()
        try Self.damageFirstPage(of: "item", complete.scratch.keychain)
        let fixture = try SQLiteKeychainFixture(opening: complete.scratch.keychain, directory: complete.mail)
        defer { fixture.close() }
        let first = Self.refused(fixture, complete)
        #expect(first.count >= 5 && first.count < complete.items.count / 2)
        for name in first {
            let row = try #require(complete.items[name]).row
            #expect(throws: KeychainFault.decode) {
                try fixture.keychain.change { change throws(KeychainFault) in try change.deleteItem(row) }
            }
        }
        #expect(Self.refused(fixture, complete) == first)
        let report = try await fixture.verified()
        #expect(report.findings.indexes.isIncomplete)
        #expect(report.findings.rows == .rowsUnreadable)
        #expect(Self.refused(fixture, complete) == first)
    }

    /// Work that reads whole tables.
    enum Work: CaseIterable {
        case check, backup, rebuild

        func run(on store: SQLiteRecordStore, _ scratch: TemporaryDirectory) throws {
            switch self {
            case .check: _ = try store.verifyStructure()
            case .backup: try store.copy(to: scratch["copy"]) { _ in }
            case .rebuild:
                try store.write(ending: nil) { writer throws(KeychainFault) in try writer.rebuildIndexes { _ in } }
            }
        }
    }

    @Test("a page with a damaged cell is refused after work that has read the whole table", arguments: Work.allCases)
    func damagedCell(after work: Work) throws {
        let complete = try IntactKeychain()
        try Self.damageFirstPage(of: "item", complete.scratch.keychain)
        let fixture = try SQLiteKeychainFixture(opening: complete.scratch.keychain, directory: complete.mail)
        defer { fixture.close() }
        try? work.run(on: fixture.store, complete.scratch)
        #expect(Self.refused(fixture, complete).count >= 5)
    }

    @Test("a write deletes no row through the table of long secrets, if damage makes it share the pages of the items")
    func sharedPages() throws {
        let complete = try IntactKeychain()
        let path = complete.scratch.keychain
        let (items, secrets) = (try Self.root(of: "item", path), try Self.root(of: "secret", path))
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes.replaceSubrange(
            (secrets - 1) * 4096..<secrets * 4096, with: bytes.subdata(in: (items - 1) * 4096..<items * 4096))
        try bytes.write(to: URL(fileURLWithPath: path))
        let fixture = try SQLiteKeychainFixture(opening: path, directory: complete.mail)
        defer { fixture.close() }
        for (_, known) in complete.items.sorted(by: { $0.value.row < $1.value.row }).prefix(20) {
            let item = try #require(try fixture.keychain.item(id: known.row))
            try fixture.keychain.change { change throws(KeychainFault) in
                _ = try change.save(item, secret: StoredContents(bytes: [7]))
            }
            #expect(try fixture.contents(of: known.row) == [7])
        }
    }

    /// The items that are not read as they were written.
    private static func refused(_ fixture: SQLiteKeychainFixture, _ complete: IntactKeychain) -> Set<
        IntactKeychain.Name
    > {
        Set(complete.items.filter { (try? fixture.contents(of: $0.value.row)) != $0.value.value }.keys)
    }

    /// Sets a high bit in the pointer to the first cell of the first leaf of a table. SQLite ignores the bit when it reads the cell,
    /// so only its check of the page finds the damage. Source: <https://www.sqlite.org/fileformat2.html#b_tree_pages>
    private static func damageFirstPage(of table: String, _ path: String) throws {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let start = (try root(of: table, path) - 1) * 4096
        try #require(bytes[start] == 5, "the root is an interior page")
        let cell = start + (Int(bytes[start + 12]) << 8 | Int(bytes[start + 13]))
        let leaf = bytes[cell..<cell + 4].reduce(0) { $0 << 8 | Int($1) }
        bytes[(leaf - 1) * 4096 + 8] |= 0x40
        try bytes.write(to: URL(fileURLWithPath: path))
    }

    private static func root(of table: String, _ path: String) throws -> Int {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        let root = try queue.read { db in
            try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_schema WHERE name = ?", arguments: [table])
        }
        return try #require(root)
    }
}
