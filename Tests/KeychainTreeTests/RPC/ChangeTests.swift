import FileSystemCore
import FileSystemTesting
import Keychain
import KeychainTesting
import Synchronization
import SystemPackage
import Testing

@testable import KeychainTree

/// F10: a change by Keychain Services changes the tree immediately, for all processes that have the item open.
@Suite struct ChangeTests: SingleServiceSuite {
    private let fixture: TreeFixture
    private let shell: TreeProcess
    private var api: API

    init() throws {
        fixture = try TreeFixture()
        (shell, api) = (TreeProcess(fixture, 1), API(fixture))
    }

    /// The kernel notifications before the last reply.
    private var notified: [Notification] { api.process.notifications }

    private func isNotified(_ node: NodeID) -> Bool {
        notified.contains { if case .inode(node, _) = $0 { true } else { false } }
    }

    private var namesAreInvalidated: Bool { notified.contains { if case .allEntries = $0 { true } else { false } } }

    // MARK: Names

    @Test("F10: an added item is a file immediately, with its attributes; and a created file is an item") func added()
        throws
    {
        #expect(throws: Errno.noSuchFileOrDirectory) { try shell.stat(path("a")) }
        try api.add(key("a", ["labl": "L"]), "one")
        #expect(try shell.cat(path("a")) == "one")
        #expect(try shell.getxattr(path("a"), "kSecAttrLabel") == "L")
        #expect(try shell.list(dir) == ["a"])
        #expect(try shell.list("generic-passwords") == ["s"])
        #expect(namesAreInvalidated)
        try shell.put(path("b"), "two")
        try shell.setxattr(path("b"), "kSecAttrLabel", "M")
        #expect(try api.value(key("b")) == "two")
        #expect(try api.value(["labl": "M"]) == "two")
        try api.add(key("c"), "three")
        #expect(try shell.list(dir) == ["a", "b", "c"])
    }

    @Test("F10: items of other groups and synchronizable ones bring their directories") func directories() throws {
        #expect(throws: Errno.noSuchFileOrDirectory) { try shell.stat("access-groups/g") }
        #expect(try shell.list("access-groups") == [])
        try api.add(key("a", ["agrp": "g"]), "grouped")
        #expect(try shell.cat("access-groups/g/generic-passwords/s/a") == "grouped")
        #expect(try shell.list("access-groups") == ["g"])
        // Moved between directories that the kernel knows and others that it does not.
        let node = try shell.entry("access-groups/g/generic-passwords/s/a").node
        try api.update(key("a", ["agrp": "g"]), to: ["agrp": "h", "svce": "t"])
        #expect(try shell.stat("access-groups/h/generic-passwords/t/a").inode.rawValue > 0)
        #expect(try shell.entry("access-groups/h/generic-passwords/t/a").node == node)
        #expect(try shell.list("access-groups/g/generic-passwords/s") == [])
        #expect(try shell.getxattr("access-groups/h/generic-passwords/t/a", "kSecAttrAccessGroup") == "h")
        #expect(isNotified(node))
    }

    @Test("F10: the times of directories change, and the kernel is notified of them and of the item") func times()
        throws
    {
        try api.add(key("a"), "one")
        let (directory, item) = (try shell.entry(dir), try shell.entry(path("a")))
        try api.update(key("a"), to: [:], "longer")
        #expect(isNotified(item.node) && namesAreInvalidated)
        try api.add(key("b"), "two")
        #expect(isNotified(directory.node))
        #expect(try shell.stat(dir).modificationTime > directory.attributes.modificationTime)
        #expect(try shell.stat(path("a")).size == 6)
        try api.update(key("b"), to: ["acct": "c"])
        #expect(try shell.list(dir) == ["a", "c"])
        try api.delete(["svce": "s"])
        #expect(try shell.list(dir) == [])
        // Older kernels are notified of each name that was added or removed.
        let names = notified.flatMap { notification -> [EntryReference] in
            if case .allEntries(let fallback) = notification { fallback() } else { [] }
        }
        for name in ["a", "b", "c"] {
            #expect(names.contains { $0.parent == directory.node && $0.name.text == name })
        }
    }

    // MARK: Open files

    @Test("F10, F3: a reader keeps the value of its open; the next open gets the new value") func readers() throws {
        try api.add(key("a"), "one")
        let reader = try shell.open(path("a"))
        try api.update(key("a"), to: [:], "two")
        #expect(try shell.read(reader) == Array("one".utf8))
        #expect(try shell.cat(path("a")) == "two")
        #expect(try shell.fstat(reader).attributes.size == 3)
        try api.delete(key("a"))
        #expect(try shell.read(reader) == Array("one".utf8))
        #expect(try shell.fstat(reader).attributes.linkCount == 0)
        #expect(throws: Errno.noSuchFileOrDirectory) { try shell.stat(path("a")) }
        try api.add(key("a"), "three")
        #expect(try shell.cat(path("a")) == "three")
        #expect(try shell.read(reader) == Array("one".utf8))
        try shell.close(reader)
    }

    @Test("F6: a deleted item stays readable and writable through open descriptors and is not created again")
    func deletedUnderWriter() throws {
        try api.add(key("a"), "one")
        let writer = try shell.open(path("a"), [.readWrite])
        try api.delete(key("a"))
        #expect(try shell.read(writer) == Array("one".utf8))
        try shell.write(writer, "X")
        #expect(try shell.read(writer) == Array("Xne".utf8))
        try shell.close(writer)
        #expect(try api.count(key("a")) == 0)
        #expect(throws: Errno.noSuchFileOrDirectory) { try shell.stat(path("a")) }
        // Already staged data is discarded with the name, too.
        try api.add(key("a"), "two")
        let other = try shell.open(path("a"), [.writeOnly, .truncate])
        try shell.write(other, "staged")
        try api.delete(key("a"))
        try shell.close(other)
        #expect(try api.count(["svce": "s"]) == 0)
    }

    @Test("F10: a commit that comes between a deletion and its news is one of before it") func deletedMeanwhile() throws
    {
        try api.add(key("a"), "one")
        let writer = try shell.open(path("a"), [.writeOnly, .truncate])
        try shell.write(writer, "staged")
        var api = api
        api.onCommit = { try shell.flush(writer) }
        try api.delete(key("a"))
        shell.release(writer)
        #expect(try api.count(["svce": "s"]) == 0)
        #expect(try shell.list(dir) == [])
    }

    @Test("F10: at its commit, a staged value completely replaces the value set by the API; attributes stay")
    func updatedUnderWriter() throws {
        try api.add(key("a"), "one")
        let writer = try shell.open(path("a"), [.writeOnly, .append])
        try shell.write(writer, "+", at: 0)
        try api.update(key("a"), to: ["labl": "L"], "two")
        #expect(try shell.cat(path("a")) == "two")
        try shell.close(writer)
        #expect(try api.value(key("a")) == "one+")
        #expect(try shell.getxattr(path("a"), "kSecAttrLabel") == "L")
    }

    @Test("F10: a write after a commit continues from the current value: no acknowledged data is lost")
    func updatedAfterCommit() throws {
        try api.add(key("a"), "one")
        let writer = try shell.open(path("a"), [.readWrite, .append])
        try shell.write(writer, "+")
        try shell.fsync(writer)
        try api.update(key("a"), to: [:], "two")
        #expect(try shell.read(writer) == Array("two".utf8))
        try shell.write(writer, "-")
        try shell.close(writer)
        #expect(try api.value(key("a")) == "two-")
        let empty = try shell.open(path("a"), [.writeOnly])
        try api.update(key("a"), to: [:], "three")
        try shell.close(empty)
        #expect(try api.value(key("a")) == "three")
    }

    @Test("F10: an open item that is renamed stays usable under its new name") func renamed() throws {
        try api.add(key("a"), "one")
        let writer = try shell.open(path("a"), [.writeOnly, .truncate])
        try shell.write(writer, "new")
        try api.update(key("a"), to: ["acct": "b", "svce": "t"])
        try shell.close(writer)
        #expect(try shell.cat("generic-passwords/t/b") == "new")
        #expect(try shell.list(dir) == [])
        #expect(try api.count([:]) == 1)
    }

    @Test("F6, L2: so does who has it open over a lock and an unlock")
    func deletedAfterUnlock() throws {
        try api.add(key("a"), "one")
        let (writer, reader) = (try shell.open(path("a"), [.readWrite]), try shell.open(path("a")))
        _ = fixture.tree.lock()
        try fixture.tree.unlock(passphrase: try TreeFixture.secret())
        try api.delete(key("a"))
        #expect(try shell.read(writer) == Array("one".utf8))
        for file in [writer, reader] {
            #expect(try shell.fstat(file).attributes.size == 3)
            shell.release(file)
        }
    }

    @Test("F6: a writer's descriptor keeps its value, regardless of changes before the deletion")
    func deletedAfterChange() throws {
        try api.add(key("a", ["pdmn": "ak"]), "one")
        let writer = try shell.open(path("a"), [.readWrite])
        try shell.rename(path("a"), path("b"))
        try api.delete(key("b"))
        #expect(try shell.read(writer) == Array("one".utf8))
        try api.add(key("a"), "two")
        let other = try shell.open(path("a"), [.readWrite])
        try shell.write(other, "T")
        try shell.fsync(other)
        try shell.setxattr(path("a"), "kSecAttrAccessible", "Always")
        _ = fixture.tree.lock()
        try api.delete(key("a"))
        #expect(try shell.read(other) == Array("Two".utf8))
        for file in [writer, other] { shell.release(file) }
    }

    // MARK: Classes, side by side

    @Test("L2, L3: a staged value follows the class that the API has set") func classes() throws {
        try api.add(key("a", ["pdmn": "ck"]), "one")
        let writer = try shell.open(path("a"), [.readWrite])
        try shell.write(writer, "staged")
        try api.update(key("a"), to: ["pdmn": "ak"])
        _ = fixture.tree.lock()
        #expect(throws: Errno.noKey) { try shell.read(writer) }
        #expect(throws: Errno.noKey) { try shell.flush(writer) }
    }

    @Test("F10: files and API side by side on the same names: no item twice, none lost, no hang")
    func sideBySide() throws {
        let fixture = fixture
        try shell.mkdir(dir)
        let done = Mutex(0)
        let threads = (0..<3).map { number in
            TestThread.started {
                let own = TreeProcess(fixture, Int32(number + 1))
                for round in 0..<150 {
                    let path = "generic-passwords/s/\(round % 3)"
                    _ = try? own.put(path, "f\(number) \(round)")
                    if round % 4 == 0 { _ = try? own.unlink(path) }
                    if round % 5 == 0 { _ = try? own.rename(path, "generic-passwords/s/r\(number)") }
                    _ = try? own.list("generic-passwords/s")
                }
                done.withLock { $0 += 1 }
            }
        }
        let clients = (0..<2).map { number in
            TestThread.started {
                let own = API(fixture)
                for round in 0..<150 {
                    let key = ["svce": "s", "acct": "\(round % 3)"]
                    _ = try? own.add(key, "a\(number) \(round)")
                    _ = try? own.update(key, to: [:], "u\(number) \(round)")
                    if round % 3 == 0 { _ = try? own.update(key, to: ["acct": "m\(number)"]) }
                    if round % 7 == 0 { _ = try? own.delete(key) }
                }
                done.withLock { $0 += 1 }
            }
        }
        for thread in threads + clients { #expect(thread.join()) }
        #expect(done.withLock { $0 } == 5)
        let names = try shell.list(dir)
        #expect(Set(names).count == names.count)
        #expect(try api.count(["svce": "s"]) == names.count)
        for name in names { #expect(try shell.cat(path(name)) == api.value(key(name))) }
        // The same by a tree that remembers nothing.
        let fresh = TreeProcess(try TreeFixture(mounting: fixture))
        #expect(Set(try fresh.list(dir)) == Set(names))
    }
}
