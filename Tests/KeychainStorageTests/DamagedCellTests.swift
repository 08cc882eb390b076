import Foundation
import GRDB
import Testing

@testable import Keychain
@testable import KeychainStorage

@Suite("S4: pages whose cells are damaged")
struct DamagedCellTests {
    @Test("such a page is refused each time, not only when it is read first, and is never changed")
    func isAlwaysRefused() async throws {
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

    /// The items that are not read as they were written.
    private static func refused(_ vault: StoredVault, _ whole: WholeKeychain) -> Set<WholeKeychain.Name> {
        Set(whole.items.filter { (try? vault.contents(of: $0.value.row)) != $0.value.value }.keys)
    }

    /// Sets a high bit in the pointer to the first cell of the first leaf of a table. SQLite ignores the bit when it reads the cell,
    /// so only its check of the page finds the damage. Source: <https://www.sqlite.org/fileformat2.html#b_tree_pages>
    private static func damageFirstPage(of table: String, _ path: String) throws {
        let queue = try DatabaseQueue(path: path)
        let root = try queue.read { db in
            try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_schema WHERE name = ?", arguments: [table])
        }
        try queue.close()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let start = (try #require(root) - 1) * 4096
        try #require(bytes[start] == 5, "the root is an interior page")
        let cell = start + (Int(bytes[start + 12]) << 8 | Int(bytes[start + 13]))
        let leaf = bytes[cell..<cell + 4].reduce(0) { $0 << 8 | Int($1) }
        bytes[(leaf - 1) * 4096 + 8] |= 0x40
        try bytes.write(to: URL(fileURLWithPath: path))
    }
}
