import FileSystemCore
import Keychain
import KeychainTesting
import Synchronization
import SystemPackage
import Testing

@testable import KeychainTree

/// Sections 1 to 3 of the contract on a tree without a kernel.
@Suite struct FileTests: SingleServiceSuite {
    private let fixture: TreeFixture
    private let shell: TreeProcess

    init() throws {
        fixture = try TreeFixture()
        shell = TreeProcess(fixture)
        try shell.mkdir(dir)
    }

    // MARK: F1, F2

    @Test("F1: a redirection commits once, at the FLUSH after the write")
    func redirection() throws {
        let file = try shell.open(path("a"), [.writeOnly, .create, .truncate])
        #expect(try fixture.commits { try shell.flush(file) } == 0)
        try shell.write(file, "x")
        #expect(try fixture.commits { try shell.flush(file) } == 1)
        #expect(fixture.commits { shell.release(file) } == 0)
        #expect(try shell.cat(path("a")) == "x")
    }

    @Test("F1: a creation alone commits at the last close; so does O_TRUNC")
    func touch() throws {
        let file = try shell.open(path("a"), [.writeOnly, .create])
        #expect(try fixture.commits { try shell.flush(file) } == 0)
        #expect(fixture.commits { shell.release(file) } == 1)
        try shell.put(path("a"), "full")
        let truncated = try shell.open(path("a"), [.writeOnly, .truncate])
        #expect(try shell.cat(path("a")) == "full")
        #expect(try fixture.commits { try shell.close(truncated) } == 1)
        #expect(try shell.cat(path("a")) == "")
    }

    @Test(
        "F1: a writer killed by a signal leaves the old value; its pending name is removed and the kernel is notified")
    func dying() throws {
        try shell.put(path("a"), "precious")
        let child = TreeProcess(fixture, 2)
        fixture.host.dying.withLock { _ = $0.insert(2) }
        for name in ["a", "new"] {
            let file = try child.open(path(name), [.writeOnly, .create, .truncate])
            try child.write(file, "half")
            #expect(try fixture.commits { try child.close(file) } == 0)
        }
        #expect(try shell.cat(path("a")) == "precious")
        #expect(throws: Errno.noSuchFileOrDirectory) { try shell.stat(path("new")) }
        #expect(try shell.list(dir) == ["a"])
        guard case .allEntries(let fallback) = child.notifications.last else { Issue.record("nothing told"); return }
        #expect(fallback().map(\.name) == [EntryName("new")])
    }

    @Test("F1, F9: a value over the limit is refused, close repeats the error, and the old value stays")
    func tooLarge() throws {
        try shell.put(path("a"), "precious")
        let file = try shell.open(path("a"), [.writeOnly, .truncate])
        try shell.write(file, bytes: Array(repeating: 1, count: 1 << 20))
        #expect(throws: Errno.fileTooLarge) { try shell.write(file, "x", at: 1 << 20) }
        #expect(throws: Errno.fileTooLarge) { try shell.close(file) }
        #expect(try shell.cat(path("a")) == "precious")
    }

    @Test("F9: a full disk fails the write, the old value stays, and writes succeed when there is space again")
    func fullDisk() throws {
        try shell.put(path("a"), "precious")
        let file = try shell.open(path("a"), [.writeOnly])
        fixture.host.freeBlocks.withLock { $0 = 0 }
        #expect(throws: Errno.noSpace) { try shell.write(file, "x") }
        #expect(throws: Errno.noSpace) { try shell.close(file) }
        #expect(throws: Errno.noSpace) { try shell.open(path("new"), [.writeOnly, .create]) }
        fixture.host.freeBlocks.withLock { $0 = FakeHost.plentyOfBlocks }
        #expect(try shell.cat(path("a")) == "precious")
        try shell.put(path("a"), "better")
        #expect(try shell.cat(path("a")) == "better")
    }

    @Test("F1: a write refused for any reason abandons the value: an O_TRUNC before it is undone")
    func refusedOtherwise() throws {
        try shell.put(path("a"), "precious")
        let file = try shell.open(path("a"), [.writeOnly, .truncate])
        fixture.store.isMoved.store(true, ordering: .relaxed)
        #expect(throws: KeychainFault.notAvailable.errno) { try shell.write(file, "x") }
        fixture.store.isMoved.store(false, ordering: .relaxed)
        #expect(throws: KeychainFault.notAvailable.errno) { try shell.close(file) }
        #expect(try shell.cat(path("a")) == "precious")
    }

    @Test("F1, F9: a refused ftruncate leaves the whole value, also for other readers; close repeats the error")
    func refusedTruncation() throws {
        try shell.put(path("a"), "precious")
        let file = try shell.open(path("a"), [.readWrite])
        fixture.host.freeBlocks.withLock { $0 = 0 }
        #expect(throws: Errno.noSpace) { try shell.ftruncate(file, 1) }
        #expect(try shell.stat(path("a")).size == 8)
        #expect(try String(decoding: shell.read(file), as: UTF8.self) == "precious")
        #expect(throws: Errno.noSpace) { try shell.close(file) }
        #expect(try shell.cat(path("a")) == "precious")
    }

    @Test("F9: a disk whose free space is unknown refuses no write")
    func unknownSpace() throws {
        fixture.host.statisticsError.withLock { $0 = .init(rawValue: 122) }
        try shell.put(path("a"), "x")
        #expect(try shell.cat(path("a")) == "x")
    }

    @Test("F1: a failed commit is tried again at each FLUSH")
    func failedCommit() throws {
        let file = try shell.open(path("a"), [.writeOnly, .create])
        try shell.write(file, "x")
        fixture.store.failNextWrite(with: .diskFull)
        #expect(throws: Errno.noSpace) { try shell.flush(file) }
        try TreeProcess(fixture, 9).flush(file)
        #expect(try shell.cat(path("a")) == "x")
        shell.release(file)
    }

    @Test("F1: O_SYNC commits each write, fsync the staged value, truncate(2) immediately")
    func durable() throws {
        let file = try shell.open(path("a"), [.writeOnly, .create, .sync])
        #expect(try fixture.commits { try shell.write(file, "a") } == 1)
        #expect(try fixture.commits { try shell.write(file, "b", at: 1) } == 1)
        #expect(try fixture.commits { try shell.close(file) } == 0)
        let plain = try shell.open(path("b"), [.writeOnly, .create])
        try shell.write(plain, "abc")
        #expect(try fixture.commits { try shell.fsync(plain) } == 1)
        try shell.close(plain)
        #expect(try fixture.commits { try shell.setattr(path("b")) { $0.size = 2 } } == 1)
        #expect(try shell.cat(path("b")) == "ab")
    }

    @Test("F2: until the commit readers get the old value, all processes the staged size, and neither is cached")
    func staged() throws {
        try shell.put(path("a"), "old")
        let file = try shell.open(path("a"), [.writeOnly, .truncate])
        try shell.write(file, "newer")
        #expect(try shell.cat(path("a")) == "old")
        #expect(try shell.stat(path("a")).size == 5)
        #expect(try shell.fstat(file).timeout == 0)
        try shell.close(file)
        #expect(try shell.cat(path("a")) == "newer")
    }

    @Test("F2: a new name exists for all processes from its creation, and reads as the value staged at the open")
    func pending() throws {
        let file = try shell.open(path("a"), [.writeOnly, .create, .exclusive])
        #expect(try shell.list(dir) == ["a"])
        #expect(throws: Errno.fileExists) { try shell.open(path("a"), [.writeOnly, .create, .exclusive]) }
        try shell.write(file, "a")
        let reader = try shell.open(path("a"))
        try shell.write(file, "b", at: 1)
        #expect(try shell.read(reader) == Array("a".utf8))
        try shell.setxattr(path("a"), "kSecAttrLabel", "L")
        try shell.setattr(path("a")) { $0.permissions = 0o640 }
        #expect(try fixture.commits { try shell.close(file) } == 1)
        #expect(try shell.read(reader) == Array("a".utf8))
        #expect(try shell.getxattr(path("a"), "kSecAttrLabel") == "L")
        #expect(try shell.stat(path("a")).permissions == 0o640)
        try shell.close(reader)
    }

    @Test("F3: writers share one staged value, so appends of two descriptors lose nothing")
    func appends() throws {
        try shell.put(path("a"), "0")
        let one = try shell.open(path("a"), [.writeOnly, .append])
        let two = try shell.open(path("a"), [.writeOnly, .append])
        for _ in 0..<3 {
            try shell.write(one, "1")
            try shell.write(two, "2")
        }
        try shell.close(one)
        try shell.close(two)
        #expect(try shell.cat(path("a")) == "0121212")
    }

    @Test("F4: a failed commit leaves no part of the change: no item, no attribute, no change of the directory")
    func atomicCommit() throws {
        let before = try shell.stat(dir)
        let file = try shell.open(path("a"), [.writeOnly, .create])
        try shell.setxattr(path("a"), "kSecAttrLabel", "L")
        fixture.store.failNextWrite(with: .diskFull)
        #expect(throws: Errno.noSpace) { try shell.fsync(file) }
        #expect(try fixture.keychain.itemCount() == 0)
        #expect(try shell.stat(dir) == before)
        #expect(try fixture.commits { try shell.fsync(file) } == 1)
        #expect(try shell.getxattr(path("a"), "kSecAttrLabel") == "L")
        #expect(try shell.stat(dir).modificationTime > before.modificationTime)
        try shell.close(file)
    }

    @Test("F7: sizes and listings decrypt no secret: they are right even where the secret is damaged")
    func sizesWithoutSecrets() throws {
        try shell.put(path("a"), String(repeating: "x", count: 12_345))
        let row = RowID(rawValue: Int64(try shell.stat(path("a")).inode.rawValue))
        try fixture.store.write { (writer) throws(KeychainFault) in
            guard let record = try writer.item(id: row) else { throw .itemNotFound }
            var secret = try writer.secret(of: row)
            secret[0] ^= 1
            try writer.put(record, secret: secret)
        }
        #expect(try shell.stat(path("a")).size == 12_345)
        #expect(try shell.list(dir) == ["a"])
        #expect(throws: Errno.corrupt) { try shell.cat(path("a")) }
    }

    // MARK: F5, F6

    @Test("F5: rename over an item: the file comes, label, creation date and reference stay with the name")
    func replace() throws {
        try shell.put(path("a"), "old")
        try shell.setxattr(path("a"), "kSecAttrLabel", "L")
        let kept = ["kSecAttrCreationDate", "kSecAttrPersistentReference", "kSecAttrLabel"]
        let before = try kept.map { try shell.getxattr(path("a"), $0) }
        try shell.put(path("tmp"), "new")
        let inode = try shell.stat(path("tmp")).inode
        #expect(try fixture.commits { try shell.rename(path("tmp"), path("a")) } == 1)
        #expect(try shell.cat(path("a")) == "new")
        #expect(try kept.map { try shell.getxattr(path("a"), $0) } == before)
        #expect(try shell.stat(path("a")).inode == inode)
        #expect(try shell.list(dir) == ["a"])
    }

    @Test("F5: os.replace before the close commits the staged value in one transaction")
    func replaceBeforeClose() throws {
        try shell.put(path("a"), "old")
        let file = try shell.open(path("tmp"), [.writeOnly, .create])
        try shell.write(file, "new")
        #expect(try fixture.commits { try shell.rename(path("tmp"), path("a")) } == 1)
        #expect(try shell.cat(path("a")) == "new")
        try shell.write(file, "!", at: 3)
        try shell.close(file)
        #expect(try shell.cat(path("a")) == "new!")
        #expect(try shell.list(dir) == ["a"])
    }

    @Test("F5: listed attributes replace the target's, the class only if listed")
    func replaceWithAttributes() throws {
        try shell.put(path("a"), "old")
        try shell.setxattr(path("a"), "kSecAttrLabel", "L")
        try shell.setxattr(path("a"), "kSecAttrAccessible", "AfterFirstUnlock")
        try shell.put(path("b"), "new")
        try shell.setxattr(path("b"), "kSecAttrComment", "C")
        try shell.rename(path("b"), path("a"))
        #expect(throws: Errno.noAttribute) { try shell.getxattr(path("a"), "kSecAttrLabel") }
        #expect(try shell.getxattr(path("a"), "kSecAttrComment") == "C")
        #expect(try shell.getxattr(path("a"), "kSecAttrAccessible") == "AfterFirstUnlock")
    }

    @Test("F5: NOREPLACE, EXCHANGE, other flags")
    func renameFlags() throws {
        try shell.put(path("a"), "1")
        try shell.put(path("b"), "2")
        try shell.setxattr(path("a"), "kSecAttrLabel", "L")
        let inodes = (try shell.stat(path("a")).inode, try shell.stat(path("b")).inode)
        #expect(throws: Errno.fileExists) { try shell.rename(path("a"), path("b"), .noReplace) }
        #expect(throws: Errno.invalidArgument) { try shell.rename(path("a"), path("b"), RenameFlags(rawValue: 4)) }
        #expect(throws: Errno.noSuchFileOrDirectory) { try shell.rename(path("a"), path("c"), .exchange) }
        try shell.rename(path("a"), path("b"), .exchange)
        #expect(try shell.cat(path("a")) == "2")
        #expect(try shell.getxattr(path("b"), "kSecAttrLabel") == "L")
        #expect(try (shell.stat(path("b")).inode, shell.stat(path("a")).inode) == inodes)
    }

    @Test("F6: an unlinked or replaced file stays usable through its descriptors and is never committed")
    func detached() throws {
        try shell.put(path("a"), "old")
        let writer = try shell.open(path("a"), [.readWrite])
        let reader = try shell.open(path("a"))
        try shell.unlink(path("a"))
        #expect(try shell.read(writer) == Array("old".utf8))
        try shell.write(writer, "late")
        #expect(try shell.read(writer) == Array("late".utf8))
        #expect(try shell.fstat(writer).attributes.linkCount == 0)
        try shell.put(path("a"), "other")
        #expect(try fixture.commits { try shell.close(writer) } == 0)
        #expect(try shell.read(reader) == Array("old".utf8))
        #expect(try shell.cat(path("a")) == "other")
        try shell.close(reader)
    }

    @Test("F6: a name unlinked before its first commit stays readable, even after its last writer has closed")
    func detachedBeforeCommit() throws {
        let writer = try shell.open(path("a"), [.readWrite, .create])
        try shell.write(writer, "staged")
        let reader = try shell.open(path("a"))
        try shell.unlink(path("a"))
        #expect(try fixture.commits { try shell.close(writer) } == 0)
        #expect(try shell.fstat(reader).attributes.size == 6)
        #expect(try shell.read(reader) == Array("staged".utf8))
        let file = try fixture.tree.itemFile(reader.node)
        #expect(fixture.tree.withState(of: file) { $0.stagedValue != nil })
        try shell.close(reader)
        #expect(fixture.tree.withState(of: file) { $0.stagedValue == nil })
        #expect(throws: Errno.noSuchFileOrDirectory) { try shell.stat(path("a")) }
    }

    @Test("F5: a rename over a name that was never committed, and of one")
    func pendingRenames() throws {
        try shell.put(path("a"), "committed")
        let target = try shell.open(path("t"), [.writeOnly, .create])
        try shell.write(target, "dropped")
        try shell.rename(path("a"), path("t"))
        try shell.close(target)
        #expect(try shell.cat(path("t")) == "committed")
        #expect(try shell.list(dir) == ["t"])
    }

    @Test("F5: a failed rename onto a pending name leaves that name and its staged value unchanged")
    func failedRenameOntoPending() throws {
        try shell.put(path("b"), "b")
        let file = try shell.open(path("new"), [.writeOnly, .create])
        try shell.write(file, "important")
        fixture.store.failNextWrite(with: .diskFull)
        #expect(throws: Errno.noSpace) { try shell.rename(path("b"), path("new")) }
        try shell.fsync(file)
        try shell.close(file)
        #expect(try shell.cat(path("new")) == "important")
        #expect(try shell.cat(path("b")) == "b")
    }

    @Test("F1: truncate(2) that is refused leaves nothing staged behind")
    func refusedTruncate() throws {
        try shell.put(path("a"), "abc")
        #expect(throws: Errno.fileTooLarge) { try shell.setattr(path("a")) { $0.size = 2 << 20 } }
        #expect(try shell.stat(path("a")).size == 3)
        try shell.close(try shell.open(path("a"), [.readWrite]))
        #expect(try shell.cat(path("a")) == "abc")
    }

    @Test(
        "F1, F9: truncate(2) that could not be committed is not committed by a writer's close",
        arguments: [false, true])
    func failedTruncate(isSynced: Bool) throws {
        try shell.put(path("a"), "precious")
        let file = try shell.open(path("a"), [.readWrite])
        if isSynced {
            try shell.write(file, "P")
            try shell.fsync(file)
        }
        fixture.store.failNextWrite(with: .diskFull)
        #expect(throws: Errno.noSpace) { try TreeProcess(fixture, 2).setattr(path("a")) { $0.size = 0 } }
        #expect(try shell.stat(path("a")).size == 8)
        try shell.close(file)
        #expect(try shell.cat(path("a")).dropFirst() == "recious")
    }

    @Test("F6, F8: the times of an unlinked file do not go back at the close of a writer")
    func timesOfUnlinked() throws {
        try shell.put(path("a"), "old")
        let file = try shell.open(path("a"), [.readWrite])
        try shell.unlink(path("a"))
        try shell.write(file, "new")
        let before = try shell.fstat(file).attributes
        try shell.flush(file)
        let after = try shell.fstat(file).attributes
        #expect(after.changeTime == before.changeTime && after.modificationTime == before.modificationTime)
        try shell.close(file)
    }

    @Test("F1: the flags of each write apply: O_APPEND removed again, one write with O_DSYNC")
    func writeFlags() throws {
        try shell.put(path("a"), "0123")
        let file = try shell.open(path("a"), [.writeOnly, .append])
        try shell.write(file, bytes: Array("X".utf8), at: 0, flags: .writeOnly)
        #expect(try fixture.commits { try shell.write(file, bytes: [0x59], at: 1, flags: [.writeOnly, .dsync]) } == 1)
        #expect(try shell.cat(path("a")) == "XY23")
        try shell.close(file)
    }
}
