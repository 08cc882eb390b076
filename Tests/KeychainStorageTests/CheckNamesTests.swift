import Foundation
import GRDB
import Testing

@testable import Keychain
@testable import KeychainStorage

/// The damage that `check` reports, by name if the name is known.
@Suite("S4: what check names")
struct CheckNamesTests {
    private func report(_ sql: String) throws -> CheckReport {
        let fixture = try StoreFixture()
        try fixture.execute([sql])
        let keychain = try fixture.opened()
        defer { keychain.store.close() }
        return try keychain.check()
    }

    private static func ids(_ sql: String) throws -> [Int64] {
        let fixture = try StoreFixture()
        let queue = try DatabaseQueue(path: fixture.path)
        defer { try? queue.close() }
        return try queue.read { try Int64.fetchAll($0, sql: sql) }
    }

    @Test("an item with a damaged secret is reported by name, one with damaged metadata by its directory")
    func items() throws {
        let paths = try StoreFixture.paths.get()
        let own = try FixtureContents.complete.get().items
        for id in try Self.ids("SELECT id FROM item WHERE secret IS NOT NULL LIMIT 5")
        where own[RowID(rawValue: id)] != nil {
            let path = try #require(paths[RowID(rawValue: id)])
            let contents = try report("UPDATE item SET secret = zeroblob(length(secret)) WHERE id = \(id)").damage
            #expect(contents == [.init(subject: .item, row: RowID(rawValue: id), path: path, isNamed: true)])
            let directory = path.prefix(through: try #require(path.lastIndex(of: "/")))
            let metadata = try report("UPDATE item SET metadata = zeroblob(length(metadata)) WHERE id = \(id)").damage
            #expect(
                metadata == [.init(subject: .item, row: RowID(rawValue: id), path: String(directory), isNamed: false)])
        }
    }

    @Test("a directory whose name is lost is reported by its container")
    func directories() throws {
        let found = try report("UPDATE directory SET name = zeroblob(length(name)) WHERE id = 101")
        #expect(
            found.damage == [
                .init(subject: .directory, row: RowID(rawValue: 101), path: "generic-passwords/", isNamed: false)
            ])
        #expect(found.damagedItems.isEmpty && !found.isConsistent)
    }

    @Test(
        "rows of keys are reported by their kind",
        arguments: [
            ("UPDATE slot SET user_key_seal = X'00' WHERE id = (SELECT max(id) FROM slot)", [1, 0, 0, 0]),
            ("INSERT INTO device VALUES (9, X'01', 0, zeroblob(16))", [0, 1, 0, 0]),
            ("UPDATE class_key SET wrapping = 7 WHERE purpose = 7", [0, 0, 1, 0]),
            ("INSERT INTO user_key VALUES (9, X'', X'')", [0, 0, 0, 1]),
        ])
    func keys(sql: String, counts: [Int]) throws {
        let fixture = try StoreFixture()
        try fixture.execute([sql])
        guard let keychain = try? fixture.opened() else { return }
        defer { keychain.store.close() }
        let report = try keychain.check()
        let found = report.damagedKeys
        #expect([found.slots, found.devices, found.classKeys, found.userKeys].map { min($0, 1) } == counts)
        #expect(!report.isConsistent)
    }

    @Test("a file with an unreadable page is checked completely, and rows that cannot be listed are reported")
    func pages() throws {
        let complete = try StoreFixture.bytes.get()
        let size = 4096
        let items = try FixtureContents.complete.get().items.count
        var (checked, unlisted) = (0, 0)
        for page in 1..<complete.count / size {
            var bytes = complete
            bytes.replaceSubrange(page * size..<(page + 1) * size, with: [UInt8](repeating: 0xFF, count: size))
            let fixture = try StoreFixture(bytes: bytes)
            guard let keychain = try? fixture.opened() else { continue }
            defer { keychain.store.close() }
            let report = try keychain.check()
            #expect(!report.isConsistent, "page \(page)")
            let lost = items - report.items + report.damagedItems.count
            #expect(report.damage.count + report.structureFaults + Int(report.unreadableRows) > 0 || lost == 0)
            checked += 1
            unlisted += report.hasUnreadablePages && report.unreadableRows > 0 ? 1 : 0
        }
        #expect(checked > 5 && unlisted > 0)
    }
}
