import Foundation
import GRDB
import KeychainTesting
import Testing

@testable import Keychain
@testable import KeychainStorage

/// A closed keychain that has entries in each index, and ways to make one of them wrong.
struct WrongIndexes {
    /// The edits of the entries of an index.
    enum Edit: String, CaseIterable, Sendable {
        case missing, moved, foreign, doubled
    }

    let scratch: TemporaryDirectory
    let directory: RowID
    let other: RowID
    let empty: RowID
    /// The items of `directory`, with their secrets. There is an item in `other`, and two in a container of keys.
    let contents: [String: [UInt8]]

    init() throws {
        scratch = try TemporaryDirectory()
        let fixture = try SQLiteKeychainFixture(creating: scratch.keychain)
        defer { fixture.close() }
        directory = fixture.directory
        other = try fixture.addService("other")
        empty = try fixture.addService("empty")
        var contents: [String: [UInt8]] = [:]
        for name in ["alpha", "beta", "gamma"] { contents[name] = Array("secret of \(name)".utf8) }
        for (name, value) in contents { try fixture.add(name, value) }
        for name in ["first", "second"] { contents[name] = try fixture.add(name, .always) }
        _ = try fixture.add("elsewhere", .always, in: other)
        let past = try fixture.add("past", [1])
        try fixture.keychain.makePast(past.id)
        let replaced = try fixture.add("replaced", [UInt8](repeating: 1, count: 3000))
        try fixture.keychain.makePast(replaced.id, isKept: true)
        contents["replaced"] = [UInt8](repeating: 1, count: 3000)
        let keys = try fixture.keychain.addContainer(.key, file: .sample)
        for name in ["one", "two"] {
            var key = try fixture.item(name, count: 1)
            key.directory = keys
            key.becomeKey(.key)
            try fixture.keychain.add(key, contents: [1])
        }
        fixture.ring.lock()
        contents["sealed"] = try fixture.add("sealed", .whenUnlockedUnlessOpen)
        self.contents = contents
    }

    func opened() throws -> SQLiteKeychainFixture {
        try SQLiteKeychainFixture(opening: scratch.keychain, directory: directory)
    }

    /// Makes entries of `index` wrong.
    func make(_ edit: Edit, of index: StoreIndex) throws {
        let isTag = index.isOfTags
        let newKey = isTag ? "randomblob(16)" : "key + 1000000"
        let kind = index.table == "item_key" ? ", kind" : ""
        let one = "(SELECT max(id) FROM entries)"
        let sql =
            switch edit {
            case .missing: "DELETE FROM entries WHERE id = \(one)"
            case .moved: "UPDATE entries SET key = \(newKey) WHERE id = \(one)"
            case .foreign: "UPDATE entries SET id = 999999 WHERE id = \(one)"
            case .doubled: "INSERT INTO entries SELECT \(newKey), id\(kind) FROM entries WHERE id = \(one)"
            }
        try IndexEditor(scratch.keychain).edit(index.name, key: isTag ? "BLOB" : "INTEGER", sql)
    }

    /// Removes the entries of one item from all indexes by which it is found or listed, as the audit's attack H3 does.
    func hide(_ name: String) throws {
        let fixture = try opened()
        let item = try #require(
            try fixture.keychain.item(named: CanonicalName(account: .string(name)), in: directory))
        fixture.close()
        let editor = IndexEditor(scratch.keychain)
        try editor.edit("item_tag", "DELETE FROM entries WHERE id = ?", [item.id.rawValue])
        try editor.edit("item_directory", key: "INTEGER", "DELETE FROM entries WHERE id = ?", [item.id.rawValue])
    }

    /// Makes the first page of an index unreadable.
    func overwriteRoot(of index: String) throws {
        let queue = try DatabaseQueue(path: scratch.keychain)
        let page = try queue.read { db in
            try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_schema WHERE name = ?", arguments: [index])
        }
        try queue.close()
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: scratch.keychain))
        try file.seek(toOffset: UInt64((try #require(page) - 1) * 4096))
        try file.write(contentsOf: Data(repeating: 0xFF, count: 100))
        try file.close()
    }

    /// Returns the number of items and directories in the tables.
    func rowCount() throws -> Int {
        let queue = try DatabaseQueue(path: scratch.keychain)
        defer { try? queue.close() }
        return try queue.read { db in
            try Int.fetchOne(
                db, sql: "SELECT (SELECT count(*) FROM item NOT INDEXED) + (SELECT count(*) FROM directory NOT INDEXED)"
            )
                ?? -1
        }
    }
}

extension SQLiteKeychainFixture {
    func addService(_ name: String) throws -> RowID {
        try keychain.change { change throws(KeychainFault) in
            let container = try change.container(ContainerKey(itemClass: .genericPassword), file: .sample)
            let service = Directory.Key.service(.generic(service: .string(name)))
            return try change.addDirectory(service, in: container.id, file: .sample).id
        }
    }

    /// Adds an internet password with its directory, container and group.
    func addInternetService(
        _ server: String, group: String = "default"
    ) throws -> (directory: RowID, item: RowID) {
        let contents = Array("secret of alice".utf8)
        let item = try item("alice", count: contents.count)
        return try keychain.change { change throws(KeychainFault) in
            let key = ContainerKey(itemClass: .internetPassword, accessGroup: Array(group.utf8))
            let container = try change.container(key, file: .sample)
            let service = Directory.Key.service(.internet(InternetService(server: .string(server))))
            let directory = try change.addDirectory(service, in: container.id, file: .sample).id
            var item = item
            item.directory = directory
            return (directory, try change.save(item, secret: StoredContents(bytes: contents)).id)
        }
    }

    /// Adds an item of a class; returns its contents.
    func add(_ name: String, _ protection: ProtectionClass, in directory: RowID? = nil) throws -> [UInt8] {
        let contents = Array("secret of \(name)".utf8)
        var item = try item(name, count: contents.count)
        item.protection = protection
        item.directory = directory ?? self.directory
        _ = try keychain.change { [item] change throws(KeychainFault) in
            try change.save(item, secret: StoredContents(bytes: contents))
        }
        return contents
    }

    /// Verifies and repairs as the daemon does, until a pass has ended.
    func verified(available: @escaping @Sendable () -> UInt64? = { nil }) async throws -> IntegrityReport {
        let reports = AsyncStream<IntegrityReport>.makeStream()
        let keychain = keychain
        Thread.detachNewThread {
            keychain.verifyInBackground(available: available) { reports.continuation.yield($0) }
            reports.continuation.finish()
        }
        for await report in reports.stream { return report }
        throw KeychainFault.notAvailable
    }
}
