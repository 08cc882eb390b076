import FileSystemCore
import Keychain
import KeychainTesting
import SystemPackage
import Testing

@testable import KeychainTree

/// F5: rename(2) of items, without freed names.
@Suite struct RenameTests: SingleServiceSuite {
    private let fixture: TreeFixture
    private let shell: TreeProcess
    private let other = "generic-passwords/t"

    init() throws {
        fixture = try TreeFixture()
        shell = TreeProcess(fixture)
        try shell.mkdir(dir)
        try shell.mkdir(other)
        try make(dir + "/a", "A", label: "first", mode: 0o640, seconds: 1000)
        try make(dir + "/b", "B", label: "second", mode: 0o400, seconds: 2000)
        try shell.setxattr(dir + "/b", "kSecAttrAccessible", "AfterFirstUnlock")
    }

    private func make(_ path: String, _ text: String, label: String, mode: UInt32, seconds: Int64) throws {
        try shell.put(path, text)
        try shell.setxattr(path, "kSecAttrLabel", label)
        try shell.setxattr(path, "color", label)
        try shell.setattr(path) { changes in
            (changes.permissions, changes.userID, changes.groupID) = (mode, UInt32(seconds), UInt32(seconds + 1))
            changes.accessTime = .at(Timestamp(seconds: seconds))
            changes.modificationTime = .at(Timestamp(seconds: seconds + 7))
        }
    }

    /// The POSIX attributes of the file except ctime, which every rename changes.
    private func file(_ path: String) throws -> Attributes {
        var attributes = try shell.stat(path)
        attributes.changeTime = Timestamp(seconds: 0)
        return attributes
    }

    /// The attributes of the item, except the modification date and those that the path contains.
    private func item(_ path: String) throws -> [String: String] {
        let always = ["kSecAttrAccessible", "kSecAttrCreationDate", "kSecAttrPersistentReference"]
        let names = Set(try shell.listxattr(path) + always)
        return Dictionary(uniqueKeysWithValues: try names.map { ($0, try shell.getxattr(path, $0)) })
    }

    private struct Snapshot: Equatable {
        let contents: String
        let file: Attributes
        let item: [String: String]
    }

    private func all(_ path: String) throws -> Snapshot {
        Snapshot(contents: try shell.cat(path), file: try file(path), item: try item(path))
    }

    @Test(
        "F5: exchange swaps the names and nothing else", arguments: ["generic-passwords/s/b", "generic-passwords/t/b"])
    func exchange(_ second: String) throws {
        if second.hasPrefix(other) { try shell.rename(dir + "/b", second) }
        try shell.setxattr(other, "kSecAttrAccessible", "AfterFirstUnlock")
        let (a, b) = (try all(dir + "/a"), try all(second))
        #expect(try fixture.commits { try shell.rename(dir + "/a", second, .exchange) } == 1)
        #expect(try all(dir + "/a") == b)
        // X1: whether the class is listed depends on the directory's default; the class itself stays.
        #expect(try shell.cat(second) == a.contents && file(second) == a.file)
        #expect(try item(second).filter { a.item[$0.key] != nil } == a.item)
        try shell.rename(second, dir + "/a", .exchange)
        #expect(try all(dir + "/a") == a)
    }

    @Test("F5: a staged value stays with its file when names are exchanged")
    func exchangeStaged() throws {
        let file = try shell.open(dir + "/a", [.writeOnly])
        try shell.write(file, "staged")
        try shell.rename(dir + "/a", dir + "/b", .exchange)
        #expect(try shell.cat(dir + "/a") == "B" && shell.cat(dir + "/b") == "A")
        try shell.close(file)
        #expect(try shell.cat(dir + "/a") == "B" && shell.cat(dir + "/b") == "staged")
    }

    @Test("F5: over an existing item contents, mode, owner, times and inode number are the source's")
    func overExisting() throws {
        let (target, source) = (try all(dir + "/a"), try all(dir + "/b"))
        #expect(try fixture.commits { try shell.rename(dir + "/b", dir + "/a") } == 1)
        #expect(try file(dir + "/a") == source.file)
        #expect(try shell.cat(dir + "/a") == "B")
        let item = try item(dir + "/a")
        for name in ["kSecAttrLabel", "color", "kSecAttrAccessible"] { #expect(item[name] == source.item[name]) }
        for name in ["kSecAttrCreationDate", "kSecAttrPersistentReference"] { #expect(item[name] == target.item[name]) }
    }

    @Test("F5: a source without own attributes gets the target's attributes and class")
    func plainSource() throws {
        try shell.put(dir + "/plain", "new")
        let target = try all(dir + "/b")
        try shell.rename(dir + "/plain", dir + "/b")
        #expect(try item(dir + "/b") == target.item)
        #expect(try shell.cat(dir + "/b") == "new")
        #expect(try shell.stat(dir + "/b").permissions == 0o600)
    }

    @Test("F5: an attribute of any other name is one of the source's own")
    func otherName() throws {
        try shell.put(dir + "/plain", "new")
        try shell.setxattr(dir + "/plain", "tag", "t")
        try shell.rename(dir + "/plain", dir + "/b")
        #expect(Set(try shell.listxattr(dir + "/b")) == ["kSecAttrAccessible", "tag"])
        #expect(try shell.getxattr(dir + "/b", "kSecAttrAccessible") == "AfterFirstUnlock")
    }

    @Test("F5, X1: a class other than the default of the source's directory is listed, WhenUnlocked too")
    func listedClass() throws {
        try shell.setxattr(other, "kSecAttrAccessible", "AfterFirstUnlock")
        try shell.put(other + "/c", "new")
        try shell.setxattr(other + "/c", "kSecAttrAccessible", "WhenUnlocked")
        try shell.rename(other + "/c", dir + "/b")
        #expect(try shell.getxattr(dir + "/b", "kSecAttrAccessible") == "WhenUnlocked")
        #expect(throws: Errno.noAttribute) { try shell.getxattr(dir + "/b", "kSecAttrLabel") }
        try shell.setxattr(dir + "/b", "kSecAttrAccessible", "Always")
        try shell.put(other + "/d", "default")
        try shell.rename(other + "/d", dir + "/b")
        #expect(try shell.getxattr(dir + "/b", "kSecAttrAccessible") == "Always")
    }

    enum Renaming: CaseIterable, Sendable { case over, free, exchange, elsewhere }

    @Test("F5: a rename that fails changes nothing, for descriptors neither", arguments: Renaming.allCases)
    func failing(_ kind: Renaming) throws {
        let (a, b) = (try all(dir + "/a"), try all(dir + "/b"))
        let (reader, writer) = (try shell.open(dir + "/b"), try shell.open(dir + "/b", [.readWrite]))
        let source = try shell.open(dir + "/a", [.writeOnly, .append])
        try shell.write(source, "+")
        fixture.store.failNextWrite(with: .diskFull)
        #expect(throws: Errno.noSpace) {
            switch kind {
            case .over: try shell.rename(dir + "/a", dir + "/b")
            case .free: try shell.rename(dir + "/a", dir + "/c")
            case .exchange: try shell.rename(dir + "/a", dir + "/b", .exchange)
            case .elsewhere: try shell.rename(dir + "/a", other + "/a")
            }
        }
        #expect(try shell.list(dir) == ["a", "b"] && shell.list(other).isEmpty)
        #expect(try shell.cat(dir + "/a") == "A" && item(dir + "/a") == a.item)
        #expect(try all(dir + "/b") == b)
        #expect(try shell.fstat(reader).attributes.linkCount == 1)
        try shell.write(writer, "b")
        try shell.close(writer)
        try shell.close(source)
        try shell.close(reader)
        #expect(try shell.cat(dir + "/a") == "A+" && shell.cat(dir + "/b") == "b")
    }

    @Test("F5: what the source has staged comes along in the rename's one transaction, to a free name too")
    func stagedToFreeName() throws {
        let file = try shell.open(dir + "/a", [.writeOnly])
        try shell.write(file, "staged")
        #expect(try fixture.commits { try shell.rename(dir + "/a", other + "/c") } == 1)
        #expect(try shell.cat(other + "/c") == "staged")
        #expect(try fixture.commits { try shell.close(file) } == 0)
    }

    @Test("F5: data that descriptors of a replaced file write later is not visible to others, fsync or not")
    func replacedWriters() throws {
        let writer = try shell.open(dir + "/a", [.readWrite])
        try shell.write(writer, "staged before")
        try shell.rename(dir + "/b", dir + "/a")
        #expect(try shell.read(writer) == Array("staged before".utf8))
        try shell.write(writer, "after")
        #expect(try fixture.commits { try shell.fsync(writer) } == 0)
        #expect(try fixture.commits { try shell.close(writer) } == 0)
        #expect(try shell.cat(dir + "/a") == "B")
    }
}
