import FileSystemCore
import Keychain
import KeychainTesting
import SecretCrypto
import Synchronization
import SystemPackage
import Testing

@testable import KeychainTree

/// Freed names, new names and renames while the keychain is being locked.
@Suite struct NamesAndLockTests: SingleServiceSuite {
    private let fixture: TreeFixture
    private let editor: TreeProcess

    init() throws {
        fixture = try TreeFixture()
        editor = TreeProcess(fixture, 1)
        try editor.mkdir(dir)
        try make("a", label: "L")
    }

    private func make(_ name: String, label: String) throws {
        try editor.put(path(name), "old")
        try editor.setxattr(path(name), "kSecAttrLabel", label)
        try editor.setxattr(path(name), "kSecAttrAccessible", "WhenUnlockedThisDeviceOnly")
    }

    private func reference(_ name: String) throws -> String {
        try editor.getxattr(path(name), "kSecAttrPersistentReference")
    }

    @Test("H1, F5: a lock discards unlinked items: a later creation of the name is a new item")
    func wipedByLock() throws {
        let before = try reference("a")
        try editor.unlink(path("a"))
        _ = fixture.tree.lock()
        #expect(fixture.tree.freedNames.withLock { $0.count } == 0)
        try fixture.tree.unlock(passphrase: try TreeFixture.secret())
        try editor.put(path("a"), "new")
        #expect(try reference("a") != before)
    }

    @Test("L1: rmdir of a directory that contains an unavailable item is ENOKEY, regardless of its other contents")
    func removingDirectory() throws {
        let other = "generic-passwords/t"
        try editor.mkdir(other)
        try editor.put("\(other)/available", "x")
        try editor.setxattr("\(other)/available", "kSecAttrAccessible", "AfterFirstUnlock")
        try editor.put("\(other)/locked", "x")
        #expect(throws: Errno.directoryNotEmpty) { try editor.rmdir(other) }
        _ = fixture.tree.lock()
        #expect(throws: Errno.noKey) { try editor.rmdir(other) }
    }

    @Test(
        "L1: rmdir and rename fail too if the directory contains a pending name that is usable only through descriptors"
    )
    func directoryOfPendingName() throws {
        let other = "generic-passwords/t"
        try editor.mkdir(other)
        try editor.setxattr(other, "kSecAttrAccessible", "WhenUnlockedUnlessOpen")
        let file = try editor.open("\(other)/new", [.writeOnly, .create])
        #expect(throws: Errno.directoryNotEmpty) { try editor.rmdir(other) }
        _ = fixture.tree.lock()
        #expect(throws: Errno.noKey) { try editor.rmdir(other) }
        #expect(throws: Errno.noKey) { try editor.rename(other, "generic-passwords/u") }
        try editor.close(file)
    }

    @Test("L1, X3: a rename by attribute to the name of an item that is not available is ENOKEY")
    func renamingByAttribute() throws {
        try editor.put(path("b"), "x")
        try editor.setxattr(path("b"), "kSecAttrAccessible", "AfterFirstUnlock")
        #expect(throws: Errno.fileExists) { try editor.setxattr(path("b"), "kSecAttrAccount", "a") }
        _ = fixture.tree.lock()
        #expect(throws: Errno.noKey) { try editor.setxattr(path("b"), "kSecAttrAccount", "a") }
        try editor.setxattr(path("b"), "kSecAttrAccount", "c")
        #expect(try editor.cat(path("c")) == "x")
    }

    @Test("L1: a pending name gets no class with which it could not be committed")
    func unusableClass() throws {
        try editor.setxattr(dir, "kSecAttrAccessible", "AfterFirstUnlock")
        _ = fixture.tree.lock()
        let file = try editor.open(path("new"), [.writeOnly, .create])
        #expect(throws: Errno.noKey) { try editor.setxattr(path("new"), "kSecAttrAccessible", "WhenUnlocked") }
        try editor.write(file, "kept")
        try editor.close(file)
        #expect(try editor.cat(path("new")) == "kept")
    }

    @Test("H1, H2: the record of a freed item contains neither its name nor an attribute, and a lock revokes its key")
    func sealed() throws {
        try make("canary-name", label: "canary-label")
        try editor.unlink(path("canary-name"))
        let entry = fixture.tree.freedNames.withLock { names -> FreedName? in
            let tag = try? fixture.keychain.keys.itemTag(
                directory: RowID(rawValue: Int64(editor.stat(dir).inode.rawValue)),
                name: CanonicalName(typed: Array("canary-name".utf8)))
            return tag.flatMap { names.take($0, by: fixture.host.process(ofThread: 1), at: fixture.host.uptime) }
        }
        let former = try #require(entry).former
        #expect(try former.item().attributes[.label] == .string("canary-label"))
        var text = ""
        dump(entry, to: &text)
        #expect(!text.contains("canary"))
        _ = fixture.tree.lock()
        #expect(throws: KeychainFault.interactionNotAllowed) { try former.item() }
        try fixture.tree.unlock(passphrase: try TreeFixture.secret())
        #expect(throws: KeychainFault.interactionNotAllowed) { try former.item() }
    }

    @Test("L2: a name created during a lock does not exist, and no later close commits it")
    func madeDuringLock() throws {
        let (host, tree) = (fixture.host, fixture.tree)
        // The creation of a freed name queries the creating process.
        try editor.put(path("b"), "old")
        try editor.unlink(path("b"))
        host.meanwhile.withLock { $0 = { _ = tree.lock() } }
        #expect(throws: Errno.noKey) { try editor.open(path("b"), [.writeOnly, .create]) }
        host.meanwhile.withLock { $0 = nil }
        try fixture.tree.unlock(passphrase: try TreeFixture.secret())
        #expect(try editor.list(dir) == ["a"])
        try editor.put(path("b"), "new")
        #expect(try editor.list(dir) == ["a", "b"])
    }

    @Test(
        "L2, F5: a new file that would continue a stricter item, and is replaced, survives a lock as its own class does"
    )
    func replacedBeforeCommit() throws {
        try editor.rename(path("a"), path("b"))
        let file = try editor.open(path("a"), [.readWrite, .create])
        try editor.setxattr(path("a"), "kSecAttrAccessible", "AfterFirstUnlock")
        try editor.write(file, "staged")
        try editor.rename(path("b"), path("a"))
        _ = fixture.tree.lock()
        #expect(try editor.read(file) == Array("staged".utf8))
    }

    @Test("H1, F5: a name freed during a lock is not recorded")
    func freedWhileLocking() throws {
        let (node, name) = try editor.parent(path("a"))
        fixture.store.afterNextWrite { [keychain = fixture.keychain] in keychain.keys.lock() }
        try editor.ask { (request) throws(Errno) in try editor.tree.unlink(&request, parent: node, name: name) }
        #expect(fixture.tree.freedNames.withLock { $0.count } == 0)
    }

    @Test("L2, F6: what a lock has taken from an unlinked file is not read as empty, or as older, after the unlock")
    func unlinkedAndLocked() throws {
        let files = [try editor.open(path("a"), [.readWrite]), try editor.open(path("new"), [.readWrite, .create])]
        for name in ["a", "new"] { try editor.unlink(path(name)) }
        for file in files {
            try editor.write(file, "later")
            try editor.fsync(file)
            #expect(try editor.read(file) == Array("later".utf8))
        }
        _ = fixture.tree.lock()
        try fixture.tree.unlock(passphrase: try TreeFixture.secret())
        for file in files {
            #expect(try editor.fstat(file).attributes.size == 5)
            #expect(throws: Errno.noKey) { try editor.read(file) }
            #expect(throws: Errno.noKey) { try editor.write(file, "on") }
            #expect(throws: Errno.noKey) { try editor.close(file) }
        }
    }

    @Test("L2, F5: staged for an item of a stricter class than its directory's default, a value goes with that class")
    func stagedForStricterClass() throws {
        try setDefault(.afterFirstUnlock)
        try editor.unlink(path("a"))
        let file = try editor.open(path("a"), [.readWrite, .create])
        try editor.write(file, "new")
        _ = fixture.tree.lock()
        #expect(throws: Errno.noKey) { try editor.read(file) }
        #expect(throws: Errno.noKey) { try editor.close(file) }
        #expect(throws: Errno.noSuchFileOrDirectory) { try editor.stat(path("a")) }
    }

    @Test("L2, F5: an open value committed with a weaker class than its directory's default survives a lock")
    func stagedForWeakerClass() throws {
        try editor.setxattr(path("a"), "kSecAttrAccessible", "AfterFirstUnlock")
        try editor.unlink(path("a"))
        let file = try editor.open(path("a"), [.readWrite, .create])
        try editor.write(file, "new")
        try editor.fsync(file)
        _ = fixture.tree.lock()
        #expect(try editor.read(file) == Array("new".utf8))
        try editor.write(file, "!", at: 3)
        try editor.close(file)
        #expect(try editor.cat(path("a")) == "new!")
    }

    private func setDefault(_ protection: ProtectionClass) throws {
        let row = RowID(rawValue: Int64(try editor.stat(dir).inode.rawValue))
        try fixture.keychain.change { (transaction) throws(KeychainFault) in
            guard var record = try transaction.directory(id: row) else { throw .itemNotFound }
            record.defaultProtection = protection
            _ = try transaction.save(record)
        }
    }

    // MARK: Locks that come in between

    @Test("L1: a committed mknod succeeds, even if a lock follows before its reply")
    func mknodDuringLock() throws {
        let (node, name) = try editor.parent(path("new"))
        fixture.store.afterNextWrite { [keychain = fixture.keychain] in keychain.keys.lock() }
        let entry = try editor.ask { (request) throws(Errno) in
            try editor.tree.mknod(&request, parent: node, name: name, type: .regular, permissions: 0o600)
        }
        fixture.tree.forget(entry.node, count: 1)
        try fixture.tree.unlock(passphrase: try TreeFixture.secret())
        #expect(try editor.cat(path("new")) == "")
    }

    @Test("X3: a committed rename by attribute succeeds, even if a lock follows before its reply")
    func renameByAttributeDuringLock() throws {
        let node = try editor.entry(path("a")).node
        let value = Array("b".utf8)
        fixture.store.afterNextWrite { [keychain = fixture.keychain] in keychain.keys.lock() }
        try editor.ask { (request) throws(Errno) in
            try editor.tree.setxattr(
                &request, node: node, name: Array("user.kSecAttrAccount".utf8), value: value.rawSpan, flags: [])
        }
        _ = fixture.tree.lock()
        try fixture.tree.unlock(passphrase: try TreeFixture.secret())
        #expect(try editor.list(dir) == ["b"])
        #expect(try editor.cat(path("b")) == "old")
    }

    @Test("T4: rmdir of a directory with a name that is not committed yet: ENOTEMPTY, while locked too")
    func rmdirWithPending() throws {
        try editor.unlink(path("a"))
        try setDefault(.afterFirstUnlock)
        let file = try editor.open(path("new"), [.writeOnly, .create])
        #expect(throws: Errno.directoryNotEmpty) { try editor.rmdir(dir) }
        _ = fixture.tree.lock()
        #expect(throws: Errno.directoryNotEmpty) { try editor.rmdir(dir) }
        try editor.close(file)
        #expect(try editor.list(dir) == ["new"])
    }
}
