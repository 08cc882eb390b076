import Foundation
import GRDB
import Testing

@testable import Keychain
@testable import KeychainStorage

@Suite("S4: damaged pages of tables")
struct DamagedTreeTests {
    @Test("a page with a damaged cell is refused each time, not only when it is read first, and is never changed")
    func damagedCell() async throws {
        let whole = try WholeKeychain()
        try Self.damageFirstPage(of: "item", whole.scratch.keychain)
        let vault = try StoredVault(opening: whole.scratch.keychain, directory: whole.mail)
        defer { vault.close() }
        let first = Self.refused(vault, whole)
        #expect(first.count >= 5 && first.count < whole.items.count / 2)
        for name in first {
            let row = try #require(whole.items[name]).row
            #expect(throws: KeychainError.decode) {
                try vault.keychain.change { change throws(KeychainError) in try change.deleteItem(row) }
            }
        }
        #expect(Self.refused(vault, whole) == first)
        let report = try await vault.verified()
        #expect(report.findings.indexes.isIncomplete)
        #expect(report.findings.rows == .rowsUnreadable)
        #expect(Self.refused(vault, whole) == first)
    }

    /// Work that reads whole tables.
    enum Work: CaseIterable {
        case check, backup, rebuild

        func run(on store: SQLiteRecordStore, _ scratch: Scratch) throws {
            switch self {
            case .check: _ = try store.verifyStructure()
            case .backup: try store.copy(to: scratch["copy"]) { _ in }
            case .rebuild:
                try store.write(ending: nil) { writer throws(KeychainError) in try writer.rebuildIndexes { _ in } }
            }
        }
    }

    @Test("a page with a damaged cell is refused after work that has read the whole table", arguments: Work.allCases)
    func damagedCell(after work: Work) throws {
        let whole = try WholeKeychain()
        try Self.damageFirstPage(of: "item", whole.scratch.keychain)
        let vault = try StoredVault(opening: whole.scratch.keychain, directory: whole.mail)
        defer { vault.close() }
        try? work.run(on: vault.store, whole.scratch)
        #expect(Self.refused(vault, whole).count >= 5)
    }

    @Test("a write deletes no row through the table of long secrets, if damage makes it share the pages of the items")
    func sharedPages() throws {
        let whole = try WholeKeychain()
        let path = whole.scratch.keychain
        let (items, secrets) = (try Self.root(of: "item", path), try Self.root(of: "secret", path))
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes.replaceSubrange(
            (secrets - 1) * 4096..<secrets * 4096, with: bytes.subdata(in: (items - 1) * 4096..<items * 4096))
        try bytes.write(to: URL(fileURLWithPath: path))
        let vault = try StoredVault(opening: path, directory: whole.mail)
        defer { vault.close() }
        for (_, known) in whole.items.sorted(by: { $0.value.row < $1.value.row }).prefix(20) {
            let item = try #require(try vault.keychain.item(id: known.row))
            try vault.keychain.change { change throws(KeychainError) in
                _ = try change.save(item, secret: StoredContents(bytes: [7]))
            }
            #expect(try vault.contents(of: known.row) == [7])
        }
    }

    /// The items that are not read as they were written.
    private static func refused(_ vault: StoredVault, _ whole: WholeKeychain) -> Set<WholeKeychain.Name> {
        Set(whole.items.filter { (try? vault.contents(of: $0.value.row)) != $0.value.value }.keys)
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
