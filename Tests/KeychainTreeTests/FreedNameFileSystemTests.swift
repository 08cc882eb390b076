import FileSystemCore
import Keychain
import KeychainTesting
import Synchronization
import SystemPackage
import Testing

@testable import KeychainTree

/// F5: what the items are when names are freed and taken again, on a tree without a kernel.
@Suite struct FreedNameFileSystemTests: SingleServiceSuite {
    private let fixture: TreeFixture
    private let editor: TreeProcess
    private let other: TreeProcess
    private static let identity = ["kSecAttrPersistentReference", "kSecAttrCreationDate"]
    private static let attributes = ["kSecAttrLabel", "kSecAttrAccessible", "color"]

    init() throws {
        fixture = try TreeFixture()
        editor = TreeProcess(fixture, 1)
        other = TreeProcess(fixture, 2)
        try editor.mkdir(dir)
        try make("a")
    }

    private func make(_ name: String, label: String = "L") throws {
        try other.put(path(name), "old")
        try other.setxattr(path(name), "kSecAttrLabel", label)
        try other.setxattr(path(name), "kSecAttrAccessible", "WhenUnlockedThisDeviceOnly")
        try other.setxattr(path(name), "color", "blue")
    }

    private func values(_ name: String, _ keys: [String]) throws -> [String] {
        try keys.map { try other.getxattr(path(name), $0) }
    }

    private func identity(_ name: String) throws -> [String] { try values(name, Self.identity) }

    private func all(_ name: String) throws -> [String] { try values(name, Self.identity + Self.attributes) }

    private func reference(_ name: String) throws -> String { try other.getxattr(path(name), Self.identity[0]) }

    @Test(
        "F5: renamed away and created by the same process: the same item from the commit on; the moved one has a copy")
    func renamedAndCreated() throws {
        let before = try all("a")
        let inode = try editor.stat(path("a")).inode
        try editor.rename(path("a"), path("a~"))
        #expect(try all("a~") == before)
        let file = try editor.open(path("a"), [.writeOnly, .create, .exclusive])
        try editor.write(file, "new")
        #expect(try identity("a") != Array(before.prefix(2)))
        #expect(try all("a~") == before)
        // Another process has the moved item open: its file records the attributes at its open.
        let watcher = try other.open(path("a~"))
        #expect(try fixture.commits { try editor.close(file) } == 1)
        #expect(try all("a") == before)
        #expect(try editor.cat(path("a")) == "new")
        #expect(try reference("a~") != before[0])
        #expect(try values("a~", Self.attributes) == Array(before.dropFirst(2)))
        #expect(try editor.cat(path("a~")) == "old")
        try other.close(watcher)
        #expect(try editor.stat(path("a~")).inode == inode)
        #expect(try editor.stat(path("a")).inode != inode)
        try editor.unlink(path("a~"))
        #expect(try all("a") == before)
    }

    @Test(
        "F5: an item continued under several names is continued again at one of them: no two items have its reference")
    func freedTwice() throws {
        let before = try reference("a")
        try editor.rename(path("a"), path("b"))
        try editor.rename(path("b"), path("c"))
        for name in ["a", "b"] { try editor.put(path(name), "new") }
        #expect(try ["a", "b", "c"].filter { try reference($0) == before } == ["a"])
        #expect(Set(try ["a", "b", "c"].map(reference)).count == 3)
    }

    @Test("F5: an item renamed away and then removed is continued only at the name where it was last")
    func renamedAndRemoved() throws {
        let before = try reference("a")
        try editor.rename(path("a"), path("b"))
        try editor.unlink(path("b"))
        for name in ["a", "b"] { try editor.put(path(name), "new") }
        #expect(try ["a", "b"].filter { try reference($0) == before } == ["b"])
    }

    @Test("F5: an item that is continued, and renamed over that item, keeps its reference")
    func renamedBack() throws {
        let before = try all("a")
        try editor.rename(path("a"), path("b"))
        let file = try editor.open(path("a"), [.writeOnly, .create])
        try editor.write(file, "new")
        try editor.rename(path("a"), path("b"))
        try editor.close(file)
        #expect(try all("b") == before)
        #expect(try editor.cat(path("b")) == "new")
    }

    @Test("F5: unlink and create by the same process continue the item, and cost one commit each")
    func unlinkedAndCreated() throws {
        let before = try all("a")
        #expect(try fixture.commits { try editor.unlink(path("a")) } == 1)
        #expect(try fixture.commits { try editor.put(path("a"), "new") } == 1)
        #expect(try all("a") == before)
        #expect(try editor.cat(path("a")) == "new")
    }

    @Test("F5: renamed away, and another file renamed onto the name")
    func renamedOnto() throws {
        let before = try all("a")
        try editor.put(path("tmp"), "new")
        let inode = try editor.stat(path("tmp")).inode
        try editor.rename(path("a"), path("a.bak"))
        #expect(try fixture.commits { try editor.rename(path("tmp"), path("a")) } == 1)
        #expect(try all("a") == before)
        #expect(try editor.cat(path("a")) == "new")
        #expect(try editor.stat(path("a")).inode == inode)
        #expect(try reference("a.bak") != before[0])
    }

    @Test("F5: renamed over an older backup, which stays the item that it is")
    func renamedOverBackup() throws {
        try make("a.bak", label: "Backup")
        let (before, backup) = (try all("a"), try identity("a.bak"))
        try editor.rename(path("a"), path("a.bak"))
        try editor.put(path("a"), "new")
        #expect(try all("a") == before)
        #expect(try identity("a.bak") == backup)
        #expect(try other.getxattr(path("a.bak"), "kSecAttrLabel") == "L")
    }

    @Test("F5: mknod takes a freed name too")
    func mknod() throws {
        let before = try all("a")
        try editor.unlink(path("a"))
        let (node, name) = try editor.parent(path("a"))
        let entry = try editor.ask { (request) throws(Errno) in
            try editor.tree.mknod(&request, parent: node, name: name, type: .regular, permissions: 0o600)
        }
        fixture.tree.forget(entry.node, count: 1)
        #expect(try all("a") == before)
    }

    @Test("F5: if another process creates the name, the item is new; a renamed item stays the old one")
    func twoProcesses() throws {
        let before = try all("a")
        try editor.rename(path("a"), path("b"))
        try other.put(path("a"), "x")
        #expect(try reference("a") != before[0])
        #expect(throws: Errno.noAttribute) { try other.getxattr(path("a"), "kSecAttrLabel") }
        #expect(try all("b") == before)
        try editor.unlink(path("b"))
        try other.put(path("b"), "x")
        #expect(try identity("b") != Array(before.prefix(2)))
        // After another process has created the name, the process that freed it cannot continue its item.
        try other.unlink(path("b"))
        try editor.put(path("b"), "x")
        #expect(throws: Errno.noAttribute) { try other.getxattr(path("b"), "kSecAttrLabel") }
    }

    @Test("F5: a process is identified by its thread group and start time; an unknown process continues no item")
    func processes() throws {
        let before = try all("a")
        fixture.host.groups.withLock { $0[21] = ProcessIdentity(group: 1, startTime: 1) }
        try TreeProcess(fixture, 21).unlink(path("a"))
        try editor.put(path("a"), "a thread of it")
        #expect(try all("a") == before)
        try editor.unlink(path("a"))
        fixture.host.groups.withLock { $0[1] = ProcessIdentity(group: 1, startTime: 2) }
        try editor.put(path("a"), "the number given again")
        #expect(try reference("a") != before[0])
        let unknown = TreeProcess(fixture, 0)
        let second = try reference("a")
        try unknown.unlink(path("a"))
        try unknown.put(path("a"), "x")
        #expect(try reference("a") != second)
    }

    @Test("F5: ten seconds from the freeing to the taking; the commit may come later")
    func tenSeconds() throws {
        let before = try all("a")
        try editor.unlink(path("a"))
        fixture.host.clock.withLock { $0 += .seconds(10) }
        let file = try editor.open(path("a"), [.writeOnly, .create])
        fixture.host.clock.withLock { $0 += .seconds(3600) }
        try editor.write(file, "new")
        try editor.close(file)
        #expect(try all("a") == before)
        try editor.unlink(path("a"))
        fixture.host.clock.withLock { $0 += .seconds(10) + .nanoseconds(1) }
        try editor.put(path("a"), "new")
        #expect(try reference("a") != before[0])
    }

    @Test("F5, X1: what the new one lists replaces what the name had; the class only if it is listed")
    func listedAttributes() throws {
        let before = try identity("a")
        try editor.rename(path("a"), path("b"))
        let file = try editor.open(path("a"), [.writeOnly, .create])
        try editor.setxattr(path("a"), "kSecAttrComment", "C")
        try editor.close(file)
        #expect(try identity("a") == before)
        #expect(try other.getxattr(path("a"), "kSecAttrComment") == "C")
        #expect(throws: Errno.noAttribute) { try other.getxattr(path("a"), "kSecAttrLabel") }
        #expect(try other.getxattr(path("a"), "kSecAttrAccessible") == "WhenUnlockedThisDeviceOnly")
        try editor.unlink(path("a"))
        try editor.put(path("c"), "new")
        try editor.setxattr(path("c"), "kSecAttrAccessible", "AfterFirstUnlock")
        try editor.rename(path("c"), path("a"))
        #expect(try identity("a") == before)
        #expect(try other.getxattr(path("a"), "kSecAttrAccessible") == "AfterFirstUnlock")
        #expect(throws: Errno.noAttribute) { try other.getxattr(path("a"), "kSecAttrComment") }
    }

    @Test(
        "F5: an abandoned creation does not use up the freed name; the next creation of the process continues the item")
    func droppedCreation() throws {
        let before = try all("a")
        try editor.rename(path("a"), path("b"))
        fixture.host.dying.withLock { _ = $0.insert(1) }
        let half = try editor.open(path("a"), [.writeOnly, .create])
        try editor.write(half, "half")
        try editor.close(half)
        fixture.host.dying.withLock { $0.removeAll() }
        #expect(try all("b") == before)
        let unlinked = try editor.open(path("a"), [.writeOnly, .create])
        try editor.unlink(path("a"))
        try editor.close(unlinked)
        #expect(try all("b") == before)
        let failing = try editor.open(path("a"), [.writeOnly, .create])
        try editor.write(failing, "new")
        fixture.store.failNextWrite(with: .diskFull)
        #expect(throws: Errno.noSpace) { try editor.flush(failing) }
        #expect(try all("b") == before)
        try editor.close(failing)
        #expect(try all("a") == before)
        #expect(try reference("b") != before[0])
    }

    @Test("F5: a rename onto the name that fails takes nothing")
    func failedRename() throws {
        let before = try all("a")
        try editor.put(path("tmp"), "new")
        try editor.rename(path("a"), path("b"))
        fixture.store.failNextWrite(with: .diskFull)
        #expect(throws: Errno.noSpace) { try editor.rename(path("tmp"), path("a")) }
        #expect(try all("b") == before)
        try editor.rename(path("tmp"), path("a"))
        #expect(try all("a") == before)
    }

    @Test("F5: renamed away and back, an item is the same, with changes in between")
    func movedBack() throws {
        let before = try identity("a")
        try editor.rename(path("a"), path("b"))
        for key in ["kSecAttrLabel", "color"] {
            try editor.ask { (request) throws(Errno) in
                let node = try editor.entry(path("b")).node
                try editor.tree.removexattr(&request, node: node, name: Array("user.\(key)".utf8))
            }
        }
        try editor.rename(path("b"), path("a"))
        #expect(try identity("a") == before)
        #expect(throws: Errno.noAttribute) { try other.getxattr(path("a"), "kSecAttrLabel") }
    }

    @Test("F5: three renames that swap two files: the files change places, the items stay")
    func swap() throws {
        try make("b", label: "B")
        try other.put(path("b"), "second")
        let (a, b) = (try identity("a"), try identity("b"))
        try editor.rename(path("a"), path("t"))
        try editor.rename(path("b"), path("a"))
        try editor.rename(path("t"), path("b"))
        #expect(try identity("a") == a)
        #expect(try identity("b") == b)
        #expect(try editor.cat(path("a")) == "second")
        #expect(try editor.cat(path("b")) == "old")
    }

    @Test("F5: exchange frees no name")
    func exchange() throws {
        try make("b", label: "B")
        let (a, b) = (try identity("a"), try identity("b"))
        try editor.rename(path("a"), path("b"), .exchange)
        #expect(try identity("a") == b)
        #expect(try identity("b") == a)
        try editor.unlink(path("a"))
        try editor.put(path("a"), "x")
        #expect(try identity("a") == b)
    }

    @Test("F5: a name is freed by a rename within its directory only, and is a name of that directory only")
    func otherDirectory() throws {
        let before = try all("a")
        try editor.mkdir("generic-passwords/t")
        try editor.rename(path("a"), "generic-passwords/t/a")
        try editor.put(path("a"), "x")
        #expect(try reference("a") != before[0])
        let second = try reference("a")
        try editor.unlink(path("a"))
        try editor.put("generic-passwords/t/b", "x")
        try editor.rename("generic-passwords/t/b", "generic-passwords/t/c")
        #expect(try other.getxattr("generic-passwords/t/c", "kSecAttrPersistentReference") != second)
        #expect(try other.getxattr("generic-passwords/t/a", "kSecAttrPersistentReference") == before[0])
    }

    @Test(
        "F5: a name that was never committed refers to no item; a new file that continues an item counts as committed")
    func pendingNames() throws {
        let file = try editor.open(path("new"), [.writeOnly, .create])
        try editor.rename(path("new"), path("moved"))
        try editor.close(file)
        let moved = try reference("moved")
        try editor.put(path("new"), "x")
        #expect(try reference("new") != moved)
        #expect(try reference("moved") == moved)
        let before = try all("a")
        try editor.unlink(path("a"))
        let heir = try editor.open(path("a"), [.writeOnly, .create])
        try editor.write(heir, "new")
        try editor.rename(path("a"), path("b"))
        try editor.close(heir)
        #expect(try all("b") == before)
        try editor.put(path("a"), "newer")
        #expect(try all("a") == before)
        #expect(try reference("b") != before[0])
    }

    @Test("F5: renamed onto a name that the same process has made and not committed yet")
    func renamedOntoPending() throws {
        let before = try all("a")
        try editor.unlink(path("a"))
        let dropped = try editor.open(path("a"), [.writeOnly, .create])
        try editor.put(path("tmp"), "new")
        try editor.rename(path("tmp"), path("a"))
        try editor.close(dropped)
        #expect(try all("a") == before)
        #expect(try editor.cat(path("a")) == "new")
    }

    @Test("F5: a name that an attribute has given to another item is taken")
    func takenByAttribute() throws {
        let before = try all("a")
        try make("b", label: "B")
        let second = try reference("b")
        try editor.unlink(path("a"))
        try editor.setxattr(path("b"), "kSecAttrAccount", "a")
        #expect(try reference("a") == second)
        try editor.setxattr(path("a"), "kSecAttrAccount", "c")
        try editor.put(path("a"), "x")
        #expect(try reference("a") != before[0])
    }

    @Test("F5, F8: the dates of the item never go back")
    func dates() throws {
        try editor.setxattr(path("a"), "color", "red")
        let before = try other.getxattr(path("a"), "kSecAttrModificationDate")
        try editor.unlink(path("a"))
        try editor.put(path("a"), "new")
        #expect(try other.getxattr(path("a"), "kSecAttrModificationDate") > before)
        let changed = try editor.stat(path("a")).changeTime
        try editor.rename(path("a"), path("b"))
        fixture.clock.move(by: -100_000)
        try editor.put(path("a"), "newer")
        #expect(try editor.stat(path("a")).changeTime >= changed)
    }
}
