import Foundation
import GRDB
import Testing

@testable import Keychain
@testable import KeychainStorage

/// A row found through an index is used only if it is the requested one.
@Suite("S4: indexes that lead to other rows")
struct IndexTests {
    private let scratch: TemporaryDirectory
    private let directory: RowID
    private let tags: [[UInt8]]

    init() throws {
        scratch = try TemporaryDirectory()
        let fixture = try SQLiteKeychainFixture(creating: scratch.keychain)
        directory = fixture.directory
        for name in ["alpha", "beta", "gamma"] { try fixture.add(name, Array("secret of \(name)".utf8)) }
        tags = try ["alpha", "beta"].map { name in
            let name = CanonicalName(account: .string(name))
            return try fixture.ring.itemTag(directory: fixture.directory, name: name, always: false)
        }
        fixture.close()
    }

    private func exchanged() throws -> SQLiteKeychainFixture {
        try IndexEditor(scratch.keychain).exchange("item_tag", tags[0], tags[1])
        return try SQLiteKeychainFixture(opening: scratch.keychain, directory: directory)
    }

    @Test("reading gives EBADMSG, and never the other item's secret")
    func reading() throws {
        let fixture = try exchanged()
        defer { fixture.close() }
        for name in ["alpha", "beta"] {
            #expect(throws: KeychainFault.decode) { try fixture.contents(name) }
        }
        #expect(try fixture.contents("gamma") == Array("secret of gamma".utf8))
    }

    @Test("a new item of such a name is refused, and both items are not modified")
    func writing() throws {
        let fixture = try exchanged()
        defer { fixture.close() }
        let before = try Self.listed(fixture)
        for name in ["alpha", "beta"] {
            #expect(throws: KeychainFault.self) { try fixture.add(name, [1]) }
        }
        #expect(before.count == 3)
        #expect(try Self.listed(fixture) == before)
    }

    @Test("an entry that refers to a missing row is EBADMSG")
    func dangling() throws {
        try IndexEditor(scratch.keychain).edit(
            "item_tag", "UPDATE entries SET id = 999999 WHERE key = ?", [Data(tags[0])])
        let fixture = try SQLiteKeychainFixture(opening: scratch.keychain, directory: directory)
        defer { fixture.close() }
        #expect(throws: KeychainFault.decode) { try fixture.contents("alpha") }
        #expect(throws: KeychainFault.self) { try fixture.add("alpha", [1]) }
    }

    @Test("a directory found by a tag has that tag")
    func directories() throws {
        let names = ["mail", "other"].map { CanonicalName(service: .generic(service: .string($0))) }
        let place = ContainerKey(itemClass: .genericPassword)
        let before = try SQLiteKeychainFixture(opening: scratch.keychain, directory: directory)
        _ = try before.addService("other")
        let parent = try #require(try before.keychain.container(place)).id
        let tags = try names.map { try before.ring.directoryTag(.service($0, .genericPassword), in: parent) }
        before.close()
        try IndexEditor(scratch.keychain).exchange("directory_tag", tags[0], tags[1])
        let fixture = try SQLiteKeychainFixture(opening: scratch.keychain, directory: directory)
        defer { fixture.close() }
        for name in names {
            #expect(throws: KeychainFault.decode) { try fixture.keychain.directory(named: name, in: place) }
        }
    }

    @Test("an item of another directory is not listed")
    func listing() throws {
        let before = try SQLiteKeychainFixture(opening: scratch.keychain, directory: directory)
        let other = try before.addService("other")
        before.close()
        try IndexEditor(scratch.keychain).edit(
            "item_directory", key: "INTEGER", "UPDATE entries SET key = ?", [other.rawValue])
        let fixture = try SQLiteKeychainFixture(opening: scratch.keychain, directory: directory)
        defer { fixture.close() }
        let listed = try fixture.keychain.items(in: other, after: .none, limit: 10)
        #expect(listed.count == 3)
        let readable = listed.filter { if case .damaged = $0 { false } else { true } }
        #expect(readable.isEmpty)
    }

    /// The items of the directory with their secrets.
    private static func listed(_ fixture: SQLiteKeychainFixture) throws -> [Item: [UInt8]?] {
        var found: [Item: [UInt8]?] = [:]
        for case .available(let item) in try fixture.keychain.items(in: fixture.directory, after: .none, limit: 10) {
            found[item] = try fixture.contents(of: item.id)
        }
        return found
    }
}
