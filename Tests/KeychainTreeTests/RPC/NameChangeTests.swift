import FileSystemCore
import FileSystemTesting
import Keychain
import KeychainTesting
import Synchronization
import SystemPackage
import Testing

@testable import KeychainTree

/// F5, F10: items that Keychain Services add at a pending name, or at a name that was just freed.
@Suite struct NameChangeTests: SingleServiceSuite {
    private let fixture: TreeFixture
    private let shell: TreeProcess
    private var api: API

    init() throws {
        fixture = try TreeFixture()
        (shell, api) = (TreeProcess(fixture, 1), API(fixture))
    }

    /// Creates `a` in a shell, which has written `text` and set an attribute, without a commit.
    private func making(_ text: String) throws -> TreeProcess.Descriptor {
        try? shell.mkdir(dir)
        let file = try shell.open(path("a"), [.writeOnly, .create, .truncate])
        try shell.write(file, text)
        try shell.setxattr(path("a"), "kSecAttrComment", "C")
        try shell.setattr(path("a")) { $0.permissions = 0o640 }
        return file
    }

    private func expectTakenOver(_ text: String) throws {
        #expect(try shell.list(dir) == ["a"])
        #expect(try api.count([:]) == 1)
        #expect(try shell.cat(path("a")) == text)
        #expect(try api.value(key("a")) == text)
    }

    @Test(
        "F10: an item added at a pending name: one item, the API's, with the file's value from its commit on")
    func addedUnderPending() throws {
        let file = try making("shell")
        try api.add(key("a", ["labl": "L"]), "api")
        #expect(try shell.list(dir) == ["a"])
        #expect(try shell.cat(path("a")) == "api")
        #expect(try shell.getxattr(path("a"), "kSecAttrComment") == "C")
        let reference = try shell.getxattr(path("a"), "kSecAttrPersistentReference")
        try shell.close(file)
        try expectTakenOver("shell")
        #expect(try shell.getxattr(path("a"), "kSecAttrComment") == "C")
        #expect(try shell.getxattr(path("a"), "kSecAttrPersistentReference") == reference)
        #expect(try shell.stat(path("a")).permissions == 0o640)
    }

    @Test("F10: an item added at a pending name whose file is closed before the tree is notified")
    func closedMeanwhile() throws {
        let file = try making("shell")
        var api = api
        api.onCommit = { try shell.flush(file) }
        try api.add(key("a"), "api")
        shell.release(file)
        try expectTakenOver("shell")
    }

    @Test("F10, L1: the same while locked, of an item that cannot be read before the unlock", arguments: [true, false])
    func addedUnderPendingWhileLocked(isUnlocked: Bool) throws {
        try shell.mkdir(dir)
        try shell.setxattr(dir, "kSecAttrAccessible", "WhenUnlockedUnlessOpen")
        let file = try making("shell")
        _ = fixture.tree.lock()
        try api.add(key("a"), "api")
        if !isUnlocked { #expect(throws: Errno.fileExists) { try shell.close(file) } }
        try fixture.tree.unlock(passphrase: try TreeFixture.secret())
        if isUnlocked {
            #expect(try shell.list(dir) == ["a"])
            #expect(try shell.cat(path("a")) == "api")
            try shell.close(file)
        }
        try expectTakenOver(isUnlocked ? "shell" : "api")
    }

    @Test("F10, L2: a value staged for an item that was moved to the name is lost with it at a lock")
    func lockedUnderPending() throws {
        let file = try making("shell")
        try shell.setxattr(path("a"), "kSecAttrAccessible", "Always")
        try api.add(key("a"), "api")
        _ = fixture.tree.lock()
        #expect(throws: Errno.noKey) { try shell.stat(path("a")) }
        #expect(throws: Errno.noKey) { try shell.write(file, "more") }
        #expect(throws: Errno.noKey) { try shell.close(file) }
        try fixture.tree.unlock(passphrase: try TreeFixture.secret())
        try expectTakenOver("api")
    }

    @Test("F6, L2: data written to a file whose item the API added and deleted survives a lock as its class does")
    func deletedUnderPending() throws {
        try shell.mkdir(dir)
        try shell.setxattr(dir, "kSecAttrAccessible", "AfterFirstUnlock")
        let file = try making("shell")
        try api.add(key("a"), "longer than that")
        try api.delete(key("a"))
        _ = fixture.tree.lock()
        #expect(try shell.fstat(file).attributes.size == 5)
        try shell.write(file, " and more", at: 5)
        #expect(try shell.fstat(file).attributes.size == 14)
    }

    @Test("F10, L2: an item of UnlessOpen that is moved to an open name keeps the value staged there over a lock")
    func openUnderPending() throws {
        try shell.mkdir(dir)
        try shell.setxattr(dir, "kSecAttrAccessible", "WhenUnlockedUnlessOpen")
        let file = try making("shell")
        try api.add(key("a"), "api")
        _ = fixture.tree.lock()
        #expect(try shell.fstat(file).attributes.size == 5)
        try shell.write(file, " more", at: 5)
        try shell.close(file)
        try fixture.tree.unlock(passphrase: try TreeFixture.secret())
        try expectTakenOver("shell more")
        #expect(try shell.getxattr(path("a"), "kSecAttrComment") == "C")
    }

    @Test(
        "F10: a value of another class, staged over an item of UnlessOpen, stays when a slot is removed while unlocked")
    func forgottenWhileUnlocked() throws {
        try shell.mkdir(dir)
        try shell.setxattr(dir, "kSecAttrAccessible", "WhenUnlockedUnlessOpen")
        let file = try making("shell")
        try shell.setxattr(path("a"), "kSecAttrAccessible", "AfterFirstUnlock")
        try api.add(key("a"), "api")
        _ = fixture.tree.forgetUnavailable()
        #expect(try shell.fstat(file).attributes.size == 5)
        try shell.close(file)
        try expectTakenOver("shell")
    }

    @Test("F10, L2: a staged value gets the class of the item that is added or moved to its name")
    func stagedUnderTheItemsClass() throws {
        let file = try making("shell")
        try shell.mkdir("generic-passwords/t")
        try shell.setxattr("generic-passwords/t", "kSecAttrAccessible", "AfterFirstUnlock")
        try api.add(["svce": "t", "acct": "x"], "moved")
        try api.update(["svce": "t", "acct": "x"], to: key("a"))
        _ = fixture.tree.lock()
        try shell.write(file, " more", at: 5)
        try shell.close(file)
        #expect(try shell.cat(path("a")) == "shell more")
    }

    @Test("F10: an abandoned new file leaves the item that was added at its name") func abandoned() throws {
        let file = try making("shell")
        try api.add(key("a"), "api")
        fixture.host.dying.withLock { _ = $0.insert(1) }
        try shell.close(file)
        fixture.host.dying.withLock { $0 = [] }
        try expectTakenOver("api")
        #expect(throws: Errno.noAttribute) { try shell.getxattr(path("a"), "kSecAttrComment") }
    }

    @Test("F10: an item that is moved to a pending name") func movedOntoPending() throws {
        let file = try making("shell")
        try api.add(["svce": "t", "acct": "x"], "moved")
        let reader = try shell.open("generic-passwords/t/x", [.readWrite])
        try api.update(["svce": "t", "acct": "x"], to: ["svce": "s", "acct": "a"])
        #expect(try shell.read(reader) == Array("moved".utf8))
        try shell.close(file)
        try shell.close(reader)
        try expectTakenOver("shell")
    }

    @Test("F10: mknod of a name at which the API adds an item concurrently fails with EEXIST") func mknod() throws {
        try shell.mkdir(dir)
        fixture.store.failNextWrite(with: .duplicateItem)
        #expect(throws: Errno.fileExists) { try shell.mknod(path("a")) }
        #expect(try shell.list(dir) == [])
    }

    @Test("F5, F10: a name that was freed and taken by the API is another item's") func freed() throws {
        try shell.mkdir(dir)
        try shell.put(path("a"), "old")
        try shell.setxattr(path("a"), "kSecAttrLabel", "L")
        try shell.rename(path("a"), path("b"))
        try api.add(key("a"), "api")
        try api.delete(key("a"))
        try shell.put(path("a"), "new")
        #expect(throws: Errno.noAttribute) { try shell.getxattr(path("a"), "kSecAttrLabel") }
        #expect(try shell.getxattr(path("b"), "kSecAttrLabel") == "L")
    }

    @Test("F5, F10: the same where the kernel has forgotten the directory") func freedInForgottenDirectory() throws {
        let client = PathClient(fixture.tree, caller: Caller(userID: 1000, groupID: 1000, processID: 7))
        try client.mkdir("/" + dir)
        try client.put("/" + path("a"), "old")
        try client.setxattr("/" + path("a"), "user.kSecAttrLabel", "L")
        try client.unlink("/" + path("a"))
        try api.add(key("a"), "api")
        try api.delete(key("a"))
        try client.put("/" + path("a"), "new")
        #expect(throws: Errno.noAttribute) { try client.getxattr("/" + path("a"), "user.kSecAttrLabel") }
    }

    @Test(
        "F5, F10: a pending name at which an item was added keeps its attributes when it is renamed in any way",
        arguments: [RenameFlags(), .exchange])
    func renamedUnderPending(flags: RenameFlags) throws {
        for target in ["b", "c"] {
            try api.add(key("c"), "there already")
            if flags == .exchange { try api.add(key("b"), "there already") }
            let file = try making("shell")
            let inode = try shell.stat(path("a")).inode
            try api.add(key("a", ["labl": "L"]), "api")
            try shell.rename(path("a"), path(target), flags)
            #expect(try shell.getxattr(path(target), "kSecAttrComment") == "C")
            #expect(try shell.stat(path(target)).permissions == 0o640)
            #expect(try shell.stat(path(target)).inode == inode)
            try shell.close(file)
            #expect(try shell.cat(path(target)) == "shell")
            try api.delete(["svce": "s"])
        }
    }

    @Test("F6, F10: when such a file is unlinked, it stays readable through open descriptors")
    func unlinkedUnderPending()
        throws
    {
        let file = try making("shell")
        let reader = try shell.open(path("a"))
        try api.add(key("a"), "api")
        try shell.unlink(path("a"))
        try shell.close(file)
        #expect(try shell.fstat(reader).attributes.permissions == 0o640)
        #expect(try shell.read(reader) == Array("shell".utf8))
        try shell.close(reader)
    }
}
