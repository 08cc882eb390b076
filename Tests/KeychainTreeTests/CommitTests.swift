import FileSystemCore
import Keychain
import KeychainTesting
import Synchronization
import SystemPackage
import Testing

@testable import KeychainTree

/// F1 and F2, sentence by sentence: when a value is committed, and the value that other processes see until then.
@Suite struct CommitTests: SingleServiceSuite {
    private let fixture: TreeFixture
    private let shell: TreeProcess
    private let child: TreeProcess

    init() throws {
        fixture = try TreeFixture()
        (shell, child) = (TreeProcess(fixture, 1), TreeProcess(fixture, 2))
        try shell.mkdir(dir)
        try shell.put(path("a"), "precious")
    }

    @Test("F1: a FLUSH after ftruncate commits, one after O_TRUNC alone does not")
    func truncations() throws {
        let file = try shell.open(path("a"), [.writeOnly])
        try shell.ftruncate(file, 3)
        #expect(try fixture.commits { try shell.flush(file) } == 1)
        #expect(try shell.cat(path("a")) == "pre")
        #expect(fixture.commits { shell.release(file) } == 0)
        let emptied = try shell.open(path("a"), [.writeOnly, .truncate])
        #expect(try fixture.commits { try shell.flush(emptied) } == 0)
        #expect(fixture.commits { shell.release(emptied) } == 1)
    }

    @Test("F1: the FLUSH of a child that has inherited the descriptor and written nothing commits nothing")
    func inherited() throws {
        let file = try shell.open(path("a"), [.writeOnly])
        try shell.write(file, "PRE")
        #expect(try fixture.commits { try child.flush(file) } == 0)
        #expect(try shell.cat(path("a")) == "precious")
        try child.write(file, "C", at: 3)
        #expect(try fixture.commits { try child.flush(file) } == 1)
        #expect(try fixture.commits { try shell.close(file) } == 0)
        #expect(try shell.cat(path("a")) == "PRECious")
    }

    @Test("F1: while commits fail, every FLUSH tries again, and returns the error to its caller")
    func failingCommits() throws {
        let file = try shell.open(path("a"), [.writeOnly])
        try shell.write(file, "PRE")
        for process in [shell, child, child] {
            fixture.store.failNextWrite(with: .diskFull)
            #expect(throws: Errno.noSpace) { try process.flush(file) }
        }
        #expect(try fixture.commits { try child.flush(file) } == 1)
        #expect(try fixture.commits { try shell.close(file) } == 0)
        #expect(try shell.cat(path("a")) == "PREcious")
    }

    @Test("F1: fsync through any descriptor, even a read-only one, commits the staged value")
    func anybodysSync() throws {
        let file = try shell.open(path("a"), [.writeOnly])
        let reader = try child.open(path("a"))
        try shell.write(file, "PRE")
        #expect(try fixture.commits { try child.fsync(reader) } == 1)
        #expect(try shell.cat(path("a")) == "PREcious")
        #expect(try fixture.commits { try child.fsync(reader) } == 0)
        try child.close(reader)
        #expect(try fixture.commits { try shell.close(file) } == 0)
    }

    enum TakingUp: CaseIterable, Sendable { case nothing, write, ftruncate, fsync, closeOnly }

    @Test(
        "F1: data abandoned by a dying writer is committed only if another process writes, truncates or syncs after it",
        arguments: TakingUp.allCases)
    func abandoned(_ taking: TakingUp) throws {
        let (file, other) = (
            try child.open(path("a"), [.writeOnly, .truncate]), try shell.open(path("a"), [.writeOnly])
        )
        try child.write(file, "half")
        fixture.host.dying.withLock { _ = $0.insert(2) }
        #expect(try fixture.commits { try child.close(file) } == 0)
        switch taking {
        case .nothing: shell.release(other)
        case .write: try shell.write(other, "!", at: 4)
        case .ftruncate: try shell.ftruncate(other, 2)
        case .fsync: try shell.fsync(other)
        case .closeOnly: break
        }
        if taking != .nothing { try shell.close(other) }
        let wanted: [TakingUp: String] = [.write: "half!", .ftruncate: "ha", .fsync: "half"]
        #expect(try shell.cat(path("a")) == wanted[taking, default: "precious"])
    }

    /// The state of the item before the killed process closes it.
    enum Before: CaseIterable, Sendable { case unwritten, truncated, written, committed }
    /// The thread that sent the write: io_uring has separate threads, which may have exited.
    enum Sender: CaseIterable, Sendable { case process, otherThread, exitedThread }

    @Test(
        "F1: a write that a killed process has left behind is refused, and commits nothing", arguments: Before.allCases,
        Sender.allCases)
    func leftBehind(_ before: Before, _ sender: Sender) throws {
        let file = try child.open(path("a"), before == .truncated ? [.writeOnly, .truncate] : [.writeOnly])
        if before == .written || before == .committed { try child.write(file, "PRE") }
        if before == .committed { try child.fsync(file) }
        fixture.host.dying.withLock { _ = $0.insert(2) }
        try child.flush(file)
        let thread = TreeProcess(fixture, sender == .exitedThread ? -1 : 7, owner: child.owner)
        fixture.host.groups.withLock { $0[7] = ProcessIdentity(group: 2, startTime: 1) }
        #expect(throws: Errno.canceled) { try (sender == .process ? child : thread).write(file, "late", at: 2) }
        #expect(fixture.commits { child.release(file) } == 0)
        #expect(try shell.cat(path("a")) == (before == .committed ? "PREcious" : "precious"))
    }

    @Test("F1: another process with the lock owner of a killed one continues the value, and so does a later open")
    func ownerOfKilledProcess() throws {
        let file = try child.open(path("a"), [.writeOnly, .truncate])
        try child.write(file, "half")
        fixture.host.dying.withLock { _ = $0.insert(2) }
        try child.flush(file)
        let next = TreeProcess(fixture, 8, owner: child.owner)
        try next.write(file, "!", at: 4)
        try next.close(file)
        #expect(try shell.cat(path("a")) == "half!")
        // The last close has forgotten the owner.
        let later = try child.open(path("a"), [.writeOnly])
        try child.write(later, "HALF")
        fixture.host.dying.withLock { $0 = [] }
        try child.close(later)
        #expect(try shell.cat(path("a")) == "HALF!")
    }

    enum Renaming: CaseIterable, Sendable { case toFreeName, over, byAttribute }

    private func rename(_ renaming: Renaming) throws {
        switch renaming {
        case .toFreeName: try shell.rename(path("a"), path("b"))
        case .over:
            try shell.put(path("b"), "other")
            try shell.rename(path("a"), path("b"))
        case .byAttribute: try shell.setxattr(path("a"), "kSecAttrAccount", "b")
        }
    }

    @Test(
        "F1, F5: a rename commits nothing that was abandoned: it is dropped at the last close",
        arguments: Renaming.allCases)
    func abandonedAndRenamed(_ renaming: Renaming) throws {
        let (file, other) = (
            try child.open(path("a"), [.writeOnly, .truncate]), try shell.open(path("a"), [.writeOnly])
        )
        try child.write(file, "half")
        fixture.host.dying.withLock { _ = $0.insert(2) }
        try child.close(file)
        try rename(renaming)
        #expect(try shell.cat(path("b")) == "precious")
        try shell.close(other)
        #expect(try shell.cat(path("b")) == "precious" && shell.stat(path("b")).size == 8)
    }

    @Test(
        "F1, F5: nor an O_TRUNC before its first byte: ^C after the rename keeps the old value, a close commits",
        arguments: Renaming.allCases, [true, false])
    func truncatedAndRenamed(_ renaming: Renaming, dies: Bool) throws {
        let file = try child.open(path("a"), [.writeOnly, .truncate])
        try rename(renaming)
        #expect(try shell.cat(path("b")) == "precious" && shell.stat(path("b")).size == 0)
        if dies { fixture.host.dying.withLock { _ = $0.insert(2) } } else { try child.write(file, "new") }
        try child.close(file)
        #expect(try shell.cat(path("b")) == (dies ? "precious" : "new"))
    }

    @Test("F2, F6: of a replaced or unlinked file an open for reading gets the committed value until its writer closes")
    func detachedBeforeClose() throws {
        for isReplaced in [true, false] {
            try shell.put(path("a"), "precious")
            let node = try shell.entry(path("a")).node
            let writer = try child.open(path("a"), [.readWrite, .truncate])
            let reader = try shell.open(path("a"))
            try shell.put(path("other"), "other")
            if isReplaced { try shell.rename(path("other"), path("a")) } else { try shell.unlink(path("a")) }
            // A lookup before the rename still opens the replaced file.
            func contents() throws -> [UInt8] {
                let opened = try shell.ask { (request) throws(Errno) in
                    try fixture.tree.open(&request, node: node, flags: [])
                }
                let file = TreeProcess.Descriptor(node: node, opened: opened, flags: [])
                defer {
                    try? shell.ask { (request) throws(Errno) in
                        fixture.tree.release(&request, node: node, handle: opened.handle)
                    }
                }
                return try shell.read(file)
            }
            #expect(try contents() == Array("precious".utf8))
            try child.write(writer, "late")
            #expect(try contents() == Array("precious".utf8))
            try child.close(writer)
            #expect(try contents() == Array("late".utf8))
            #expect(try shell.read(reader) == Array("precious".utf8))
            try shell.close(reader)
            fixture.tree.forget(node, count: 1)
        }
    }

    @Test("F1: an abandoned creation is removed completely, with its attributes and mode")
    func droppedEntirely() throws {
        let file = try child.open(path("new"), [.writeOnly, .create])
        try child.setxattr(path("new"), "kSecAttrLabel", "L")
        try child.setattr(path("new")) { $0.permissions = 0o640 }
        try child.write(file, "half")
        fixture.host.dying.withLock { _ = $0.insert(2) }
        #expect(try fixture.commits { try child.close(file) } == 0)
        #expect(throws: Errno.noSuchFileOrDirectory) { try shell.getxattr(path("new"), "kSecAttrLabel") }
        try shell.put(path("new"), "x")
        #expect(try shell.listxattr(path("new")).isEmpty)
        #expect(try shell.stat(path("new")).permissions == 0o600)
    }

    @Test("F1: attributes, mode and times of a name without a committed value are staged and committed with it")
    func stagedFacts() throws {
        let file = try shell.open(path("new"), [.writeOnly, .create])
        try shell.write(file, "x")
        let time = Timestamp(seconds: 981_173_106, nanoseconds: 123_456_789)
        let commits = try fixture.commits {
            try shell.setxattr(path("new"), "kSecAttrLabel", "L")
            try shell.setxattr(path("new"), "color", "blue")
            try shell.setxattr(path("new"), "kSecAttrAccessible", "AfterFirstUnlock")
            try shell.setattr(path("new")) { $0.permissions = 0o640 }
            try shell.setattr(path("new")) { ($0.accessTime, $0.modificationTime) = (.at(time), .at(time)) }
        }
        #expect(commits == 0)
        #expect(try shell.getxattr(path("new"), "color") == "blue")
        #expect(try shell.stat(path("new")).permissions == 0o640)
        #expect(try shell.stat(path("new")).modificationTime == time)
        #expect(try fixture.commits { try shell.close(file) } == 1)
        let after = try shell.stat(path("new"))
        #expect(after.permissions == 0o640 && after.modificationTime == time && after.accessTime == time)
        #expect(try shell.listxattr(path("new")) == ["kSecAttrAccessible", "kSecAttrLabel", "color"])
    }

    @Test("F1: on a committed item attributes, mode and times commit immediately, without the staged value")
    func attributesWithCommit() throws {
        let file = try shell.open(path("a"), [.writeOnly, .truncate])
        try shell.write(file, "staged")
        let time = Timestamp(seconds: 981_173_106)
        #expect(try fixture.commits { try shell.setxattr(path("a"), "kSecAttrLabel", "L") } == 1)
        #expect(try fixture.commits { try shell.removexattr(path("a"), "kSecAttrLabel") } == 1)
        #expect(try fixture.commits { try shell.setattr(path("a")) { $0.permissions = 0o644 } } == 1)
        #expect(try fixture.commits { try shell.setattr(path("a")) { $0.modificationTime = .at(time) } } == 1)
        #expect(try shell.cat(path("a")) == "precious")
        #expect(try shell.stat(path("a")).modificationTime == time)
        #expect(try fixture.commits { try shell.close(file) } == 1)
        #expect(try shell.cat(path("a")) == "staged")
        #expect(try shell.stat(path("a")).modificationTime == time)
        #expect(try shell.stat(path("a")).permissions == 0o644)
    }

    @Test("F1, L1: what can be foreseen is the error of open or write, not of the close that shells ignore")
    func foreseen() throws {
        fixture.host.freeBlocks.withLock { $0 = 0 }
        #expect(throws: Errno.noSpace) { try shell.open(path("a"), [.writeOnly, .truncate]) }
        #expect(throws: Errno.noSpace) { try shell.open(path("new"), [.writeOnly, .create]) }
        fixture.host.freeBlocks.withLock { $0 = FakeHost.plentyOfBlocks }
        #expect(try shell.stat(path("a")).size == 8)
        let file = try shell.open(path("a"), [.writeOnly])
        #expect(throws: Errno.fileTooLarge) { try shell.ftruncate(file, 1 << 20 + 1) }
        #expect(throws: Errno.fileTooLarge) { try shell.close(file) }
        _ = fixture.tree.lock()
        for flags in [OpenFlags(), .writeOnly, [.writeOnly, .truncate], [.writeOnly, .create]] {
            #expect(throws: Errno.noKey) { try shell.open(path("a"), flags) }
        }
        #expect(throws: Errno.noKey) { try shell.open(path("new"), [.writeOnly, .create]) }
    }

    @Test("F1: on a read-only mount every change fails immediately with EROFS")
    func readOnly() throws {
        try shell.mkdir("generic-passwords/t")
        let reader = TreeProcess(try TreeFixture(mounting: fixture, isReadOnly: true))
        let before = fixture.store.writeCount
        let changes: [(String, () throws(Errno) -> Void)] = [
            ("open", { () throws(Errno) in _ = try reader.open(path("a"), [.writeOnly]) }),
            ("O_TRUNC", { () throws(Errno) in _ = try reader.open(path("a"), [.truncate]) }),
            ("create", { () throws(Errno) in _ = try reader.open(path("n"), [.writeOnly, .create]) }),
            ("mknod", { () throws(Errno) in try reader.mknod(path("n")) }),
            ("mkdir", { () throws(Errno) in try reader.mkdir("generic-passwords/n") }),
            ("group", { () throws(Errno) in try reader.mkdir("access-groups/n") }),
            ("rmdir", { () throws(Errno) in try reader.rmdir("generic-passwords/t") }),
            ("unlink", { () throws(Errno) in try reader.unlink(path("a")) }),
            ("rename", { () throws(Errno) in try reader.rename(path("a"), path("b")) }),
            ("rename of a service", { () throws(Errno) in try reader.rename(dir, "generic-passwords/n") }),
            ("chmod", { () throws(Errno) in try reader.setattr(path("a")) { $0.permissions = 0o400 } }),
            ("truncate", { () throws(Errno) in try reader.setattr(path("a")) { $0.size = 0 } }),
            ("chmod of a service", { () throws(Errno) in try reader.setattr(dir) { $0.permissions = 0o500 } }),
            ("setxattr", { () throws(Errno) in try reader.setxattr(path("a"), "color", "x") }),
            ("removexattr", { () throws(Errno) in try reader.removexattr(path("a"), "color") }),
            ("default class", { () throws(Errno) in try reader.setxattr(dir, "kSecAttrAccessible", "Always") }),
        ]
        for (name, change) in changes { #expect(throws: Errno.readOnlyFileSystem, "\(name)") { try change() } }
        #expect(try reader.cat(path("a")) == "precious")
        #expect(fixture.store.writeCount == before)
    }

    @Test(
        "F2: all processes see the staged size and times, by name, by descriptor and in a listing; they are not cached")
    func seenByEveryone() throws {
        let before = try shell.stat(path("a"))
        let file = try shell.open(path("a"), [.writeOnly, .truncate])
        try shell.write(file, "staged")
        let entry = try child.entry(path("a"))
        let other = try child.open(path("a"))
        for seen in [entry.attributes, try child.fstat(other).attributes, try shell.fstat(file).attributes] {
            #expect(seen.size == 6 && seen.modificationTime > before.modificationTime)
            #expect(seen.changeTime > before.changeTime && seen.inode == before.inode)
        }
        #expect(entry.attributeTimeout == 0 && entry.entryTimeout > 0)
        #expect(try child.fstat(other).timeout == 0)
        let (timeouts, sizes) = try listed()
        #expect(timeouts["a"] == 0 && sizes["a"] == 6)
        try child.close(other)
        try shell.close(file)
        #expect(try child.entry(path("a")).attributeTimeout > 0)
        #expect(try listed().timeouts["a"] ?? 0 > 0)
    }

    @Test("F2, F8: each write and each ftruncate moves the staged times")
    func stagedTimes() throws {
        let file = try shell.open(path("a"), [.writeOnly])
        var before = try shell.stat(path("a"))
        let steps: [() throws -> Void] = [
            { try shell.write(file, "x") }, { try shell.ftruncate(file, 3) }, { try child.write(file, "y", at: 1) },
        ]
        for step in steps {
            try step()
            let after = try shell.stat(path("a"))
            #expect(after.modificationTime > before.modificationTime && after.changeTime > before.changeTime)
            #expect(after.accessTime == before.accessTime)
            before = after
        }
        try shell.close(file)
        #expect(try shell.stat(path("a")).modificationTime == before.modificationTime)
    }

    @Test("F10: the kernel may cache existing and missing names, but no pending name")
    func remembered() throws {
        let (node, _) = try shell.parent(path("none"))
        let lookup = { (name: String) throws(Errno) -> LookupResult in
            try shell.ask { (request) throws(Errno) in
                try shell.tree.lookup(&request, parent: node, name: shell.name(name))
            }
        }
        guard case .absent(let timeout) = try lookup("none"), case .found(let there) = try lookup("a") else {
            Issue.record("not what is there"); return
        }
        #expect(timeout > 3600 && there.entryTimeout > 3600 && there.attributeTimeout > 3600)
        let file = try shell.open(path("none"), [.writeOnly, .create])
        guard case .found(let pending) = try lookup("none") else { Issue.record("not there"); return }
        #expect(pending.entryTimeout == 0 && pending.attributeTimeout == 0)
        try shell.close(file)
        guard case .found(let committed) = try lookup("none") else { Issue.record("not there"); return }
        #expect(committed.entryTimeout > 3600 && committed.attributeTimeout > 3600)
    }

    @Test("F10: the kernel caches no data of a pending name beyond its open(2)")
    func creationValidity() throws {
        let (node, name) = try shell.parent(path("made"))
        let (entry, opened) = try shell.ask { (request) throws(Errno) in
            try shell.tree.create(&request, parent: node, name: name, permissions: 0o600, flags: [.writeOnly, .create])
        }
        #expect(entry.entryTimeout == 0 && 0 < entry.attributeTimeout && entry.attributeTimeout < 1e-3)
        let file = TreeProcess.Descriptor(node: entry.node, opened: opened, flags: [.writeOnly, .create])
        #expect(try shell.fstat(file).timeout == 0)
        try shell.write(file, "x")
        #expect(try shell.fstat(file).timeout == 0)
        try shell.close(file)
    }

    /// Returns the cache timeouts and sizes of READDIRPLUS.
    private func listed() throws -> (timeouts: [String: Double], sizes: [String: UInt64]) {
        let entries = try child.entries(dir)
        return (entries.mapValues(\.attributeTimeout), entries.mapValues(\.attributes.size))
    }
}
