import FileSystemCore
import KeychainTesting
import SecretCrypto
import Synchronization
import SystemPackage
import Testing

@testable import Keychain
@testable import KeychainTree

/// WhenUnlockedUnlessOpen: open files survive a lock, and items can be added while locked.
@Suite struct OpenWhileLockedTests: SingleServiceSuite {
    private let fixture: TreeFixture
    private let editor: TreeProcess

    init() throws {
        fixture = try TreeFixture()
        editor = TreeProcess(fixture, 1)
        try editor.mkdir(dir)
        try editor.setxattr(dir, "kSecAttrAccessible", "WhenUnlockedUnlessOpen")
        try editor.put(path("a"), "old")
        try editor.setxattr(path("a"), "color", "blue")
        try editor.mkdir("generic-passwords/other")
    }

    private func lock() { _ = fixture.tree.lock() }
    private func unlock() throws { try fixture.tree.unlock(passphrase: try TreeFixture.secret()) }

    /// Rewraps the items, as the background worker does after an unlock.
    private func rewrap() throws {
        var after = RowID.none
        while let page = try fixture.keychain.rewrapPage(after: after) { after = page.last }
    }

    private func record(_ path: String) throws -> ItemRecord? {
        let row = RowID(rawValue: Int64(try editor.stat(path).inode.rawValue))
        return fixture.store.records.itemRecords[row]
    }

    private func chmod(_ file: TreeProcess.Descriptor, _ mode: UInt32) throws {
        var changes = AttributeChanges()
        changes.permissions = mode
        _ = try editor.ask { [changes] (request) throws(Errno) in
            try editor.tree.setattr(&request, node: file.node, changes: changes)
        }
    }

    @Test(
        "S3, L1: while locked an item can be added to a directory with this default class; its name is available after the unlock"
    )
    func adding() throws {
        lock()
        try editor.put(path("new"), "while locked")
        #expect(throws: Errno.noKey) { try editor.stat(path("new")) }
        #expect(throws: Errno.noKey) { try editor.put(path("new"), "again") }
        #expect(throws: Errno.noKey) { try editor.put(path("a"), "over what is there") }
        #expect(throws: Errno.noKey) { try editor.put("generic-passwords/other/x", "of another class") }
        #expect(throws: Errno.noKey) { try editor.unlink(path("new")) }
        try unlock()
        #expect(try editor.cat(path("new")) == "while locked")
        #expect(try record(path("new"))?.ephemeral != nil)
        try rewrap()
        #expect(try record(path("new"))?.ephemeral == nil)
        #expect(try editor.cat(path("new")) == "while locked" && editor.cat(path("a")) == "old")
        try editor.setattr(path("new")) { $0.permissions = 0o640 }
        #expect(try editor.stat(path("new")).permissions == 0o640)
    }

    @Test("F1, L2: what the last close commits is committed while locked, too: an O_TRUNC alone")
    func truncatedByOpen() throws {
        let file = try editor.open(path("a"), [.writeOnly, .truncate])
        lock()
        try editor.close(file)
        try unlock()
        #expect(try editor.cat(path("a")) == "")
        #expect(try editor.getxattr(path("a"), "color") == "blue")
    }

    @Test("L2: an item that gets the class while it is open survives a lock, too")
    func classWhileOpen() throws {
        let other = "generic-passwords/other/x"
        try editor.put(other, "value")
        let file = try editor.open(other, [.readWrite])
        try editor.setxattr(other, "kSecAttrAccessible", "WhenUnlockedUnlessOpen")
        lock()
        #expect(try editor.read(file) == Array("value".utf8))
        try editor.close(file)
    }

    @Test("L2, L3: so does what gets the class while it is open and the keychain locked")
    func classWhileLocked() throws {
        let other = "generic-passwords/other/x"
        try editor.put(other, "value")
        try editor.setxattr(other, "kSecAttrAccessible", "Always")
        lock()
        let file = try editor.open(other, [.readWrite])
        try editor.setxattr(other, "kSecAttrAccessible", "WhenUnlockedUnlessOpen")
        #expect(throws: Errno.noKey) { try editor.stat(other) }
        #expect(try editor.read(file) == Array("value".utf8))
        try editor.write(file, "V")
        try editor.close(file)
        try unlock()
        #expect(try editor.cat(other) == "Value")
    }

    @Test("L1: its name is not available before it is committed, regardless of when the lock came")
    func uncommittedName() throws {
        let before = try editor.open(path("before"), [.readWrite, .create])
        try editor.write(before, "one")
        lock()
        let after = try editor.open(path("after"), [.readWrite, .create])
        try editor.write(after, "two")
        for name in ["before", "after"] {
            #expect(throws: Errno.noKey) { try editor.stat(path(name)) }
            #expect(throws: Errno.noKey) { try editor.cat(path(name)) }
            #expect(throws: Errno.noKey) { try editor.rename(path(name), path("other")) }
            #expect(throws: Errno.noKey) { try editor.unlink(path(name)) }
        }
        #expect(throws: Errno.noKey) { try editor.list(dir) }
        #expect(try editor.read(after) == Array("two".utf8) && editor.fstat(before).attributes.size == 3)
        try editor.close(before)
        try editor.close(after)
        try unlock()
        #expect(try editor.cat(path("before")) == "one" && editor.cat(path("after")) == "two")
    }

    @Test("T5, L1: so does mknod; the kernel is not to remember the name")
    func mknod() throws {
        lock()
        let (node, name) = try editor.parent(path("new"))
        let entry = try editor.ask { (request) throws(Errno) in
            try editor.tree.mknod(&request, parent: node, name: name, type: .regular, permissions: 0o600)
        }
        #expect(entry.entryTimeout == 0)
        #expect(throws: Errno.noKey) { try editor.stat(path("new")) }
        try unlock()
        #expect(try editor.stat(path("new")).size == 0)
    }

    @Test("L2: open descriptors survive a lock: read, write, commit, stat; operations on the name fail")
    func openDescriptors() throws {
        let reader = try editor.open(path("a"))
        let idle = try editor.open(path("a"), [.readWrite])
        lock()
        #expect(throws: Errno.noKey) { try editor.cat(path("a")) }
        #expect(throws: Errno.noKey) { try editor.stat(path("a")) }
        #expect(try editor.read(reader) == Array("old".utf8))
        #expect(try editor.read(idle) == Array("old".utf8))
        #expect(try editor.fstat(reader).attributes.size == 3)
        try editor.write(idle, "new!", at: 0)
        #expect(try editor.fstat(reader).attributes.size == 4)
        try editor.close(idle)
        #expect(try editor.read(reader) == Array("old".utf8), "F3: the value of its open")
        try editor.close(reader)
        try unlock()
        #expect(try editor.cat(path("a")) == "new!")
        #expect(try editor.getxattr(path("a"), "color") == "blue")
        #expect(try record(path("a"))?.ephemeral != nil)
    }

    @Test("L1, F5: so it is with a file that was renamed, there and back or away for a new one, before the lock")
    func renamedBefore() throws {
        let back = try editor.open(path("a"), [.readWrite])
        try editor.rename(path("a"), path("b"))
        try editor.rename(path("b"), path("a"))
        try editor.put(path("c"), "old c")
        let away = try editor.open(path("c"), [.readWrite])
        try editor.rename(path("c"), path("c~"))
        // The new file continues the item; the old file has another reference than its handle recorded.
        try editor.put(path("c"), "new c")
        lock()
        for file in [back, away] {
            #expect(try editor.fstat(file).attributes.linkCount == 1)
            try chmod(file, 0o640)
            try editor.write(file, "NEW")
            try editor.close(file)
        }
        try unlock()
        #expect(
            try editor.cat(path("a")) == "NEW" && editor.cat(path("c~")) == "NEW c" && editor.cat(path("c")) == "new c")
        let references = try ["a", "c", "c~"].map { try editor.getxattr(path($0), "kSecAttrPersistentReference") }
        #expect(Set(references).count == 3)
    }

    @Test("L2: a lock keeps the staged value of an item and of a new name; staged values of other classes are lost")
    func staged() throws {
        let changed = try editor.open(path("a"), [.writeOnly, .truncate])
        try editor.write(changed, "staged")
        let created = try editor.open(path("b"), [.writeOnly, .create])
        try editor.write(created, "created")
        let other = try editor.open("generic-passwords/other/x", [.writeOnly, .create])
        try editor.write(other, "lost")
        lock()
        try editor.write(created, "!", at: 7)
        try editor.close(created)
        try editor.close(changed)
        #expect(throws: Errno.noKey) { try editor.close(other) }
        try unlock()
        #expect(try editor.cat(path("a")) == "staged" && editor.cat(path("b")) == "created!")
        #expect(throws: Errno.noSuchFileOrDirectory) { try editor.stat("generic-passwords/other/x") }
    }

    @Test("L1: attributes of an open node can be read and set while locked; its value stays")
    func attributes() throws {
        let reader = try editor.open(path("a"))
        lock()
        try chmod(reader, 0o640)
        #expect(try editor.fstat(reader).attributes.permissions == 0o640)
        try editor.ask { (request) throws(Errno) in
            try editor.tree.setxattr(
                &request, node: reader.node, name: Array("user.color".utf8), value: Array("red".utf8).rawSpan,
                flags: [])
        }
        // Not to a class that is locked.
        #expect(throws: Errno.noKey) {
            try editor.ask { (request) throws(Errno) in
                try editor.tree.setxattr(
                    &request, node: reader.node, name: Array("user.kSecAttrAccessible".utf8),
                    value: Array("WhenUnlocked".utf8).rawSpan, flags: [])
            }
        }
        try editor.close(reader)
        #expect(throws: Errno.noKey) { try editor.stat(path("a")) }
        try unlock()
        #expect(try editor.stat(path("a")).permissions == 0o640)
        #expect(try editor.getxattr(path("a"), "color") == "red")
        #expect(try editor.cat(path("a")) == "old")
    }

    @Test("L1: so do those of a file that was written while locked, before and after its commit")
    func attributesOfWritten() throws {
        let file = try editor.open(path("a"), [.readWrite])
        lock()
        try editor.write(file, "while locked")
        try chmod(file, 0o640)
        try editor.fsync(file)
        try chmod(file, 0o660)
        #expect(try editor.read(file) == Array("while locked".utf8))
        try editor.close(file)
        try unlock()
        #expect(try editor.stat(path("a")).permissions == 0o660)
        #expect(try editor.cat(path("a")) == "while locked")
    }

    @Test("F1, L1: attributes set during a write while locked do not restore an older value")
    func attributesOfUncommitted() throws {
        let file = try editor.open(path("a"), [.readWrite])
        lock()
        try editor.write(file, "committed")
        try editor.fsync(file)
        try editor.write(file, "UNCOMMITTED")
        try chmod(file, 0o640)
        try unlock()
        let row = try #require(
            try fixture.keychain.row(
                named: CanonicalName(typed: Array("a".utf8)),
                in: RowID(rawValue: Int64(editor.stat(dir).inode.rawValue))))
        #expect(try fixture.keychain.itemWithSecret(id: row)?.item.secretCount == 9)
        try editor.close(file)
        #expect(try editor.cat(path("a")) == "UNCOMMITTED")
        #expect(try editor.stat(path("a")).permissions == 0o640)
    }

    @Test("L1, L2: nor does it where the commit came before the lock, or a reader is all that is left")
    func attributesAfterCommit() throws {
        let reader = try editor.open(path("a"))
        let file = try editor.open(path("a"), [.readWrite])
        try editor.write(file, "committed")
        try editor.fsync(file)
        try editor.write(file, "UNCOMMITTED")
        lock()
        try chmod(file, 0o640)
        #expect(fixture.store.records.itemRecords.values.contains { $0.ephemeral != nil })
        try editor.fsync(file)
        try editor.close(file)
        try chmod(reader, 0o660)
        #expect(try editor.fstat(reader).attributes.size == 11)
        try editor.close(reader)
        try unlock()
        #expect(try editor.cat(path("a")) == "UNCOMMITTED")
        #expect(try editor.stat(path("a")).permissions == 0o660)
    }

    @Test("S3, F1: an open file stays usable after its row was sealed again, and over the next lock")
    func resealedConcurrently() throws {
        lock()
        let file = try editor.open(path("new"), [.readWrite, .create])
        try editor.write(file, "one")
        try editor.fsync(file)
        try unlock()
        try rewrap()
        lock()
        try editor.write(file, "two")
        try editor.fsync(file)
        try chmod(file, 0o640)
        try unlock()
        try rewrap()
        #expect(try editor.cat(path("new")) == "two")
        try editor.write(file, "six")
        try editor.close(file)
        #expect(try editor.cat(path("new")) == "six")
        #expect(try editor.stat(path("new")).permissions == 0o640)
        #expect(try fixture.keychain.check().isConsistent)
    }

    @Test("L2: a lock discards the values of files that are not open")
    func forgotten() throws {
        let known = try editor.entry(path("a")).node
        let file = try editor.open(path("a"), [.readWrite])
        let item = try fixture.tree.itemFile(known)
        #expect(fixture.tree.withState(of: item) { $0.keptValue != nil })
        try editor.close(file)
        #expect(fixture.tree.withState(of: item) { $0.keptValue == nil && $0.item == nil })
        lock()
        #expect(throws: Errno.noKey) {
            try editor.ask { (request) throws(Errno) in
                try editor.tree.getattr(&request, node: known, handle: nil).attributes
            }
        }
        #expect(throws: Errno.noKey) {
            try editor.ask { (request) throws(Errno) in
                try editor.tree.open(&request, node: known, flags: []).handle
            }
        }
    }
}
