import FileSystemCore
import Keychain
import KeychainTesting
import SecretCrypto
import Synchronization
import SystemPackage
import Testing

@testable import KeychainTree

/// Directories, attributes and locking on a tree without a kernel.
@Suite struct TreeTests: SingleServiceSuite {
    private let fixture: TreeFixture
    private let shell: TreeProcess

    init() throws {
        fixture = try TreeFixture()
        shell = TreeProcess(fixture)
        try shell.mkdir(dir)
    }

    @Test("L2: what a lock drops is dropped for good, and only for the descriptors from before it")
    func lockWithDescriptors() throws {
        try shell.put(path("a"), "old")
        let idle = try shell.open(path("a"), [.writeOnly, .append])
        try shell.put(path("b"), "old")
        let busy = try shell.open(path("b"), [.writeOnly])
        try shell.write(busy, bytes: Array(repeating: 1, count: 10_000))
        let pending = try shell.open(path("new"), [.writeOnly, .create])
        try shell.write(pending, "x")
        _ = fixture.tree.lock()
        try fixture.tree.unlock(passphrase: try TreeFixture.secret())
        #expect(try shell.list(dir) == ["a", "b"])
        #expect(try shell.stat(path("b")).size == 3)
        try shell.put(path("a"), "new")
        try shell.put(path("b"), "new")
        try shell.rename(path("b"), path("c"))
        try shell.put(path("new"), "other")
        for file in [busy, pending] {
            #expect(throws: Errno.noKey) { try shell.write(file, "late") }
            #expect(throws: Errno.noKey) { try shell.close(file) }
        }
        try shell.write(idle, "!")
        try shell.close(idle)
        #expect(try shell.cat(path("a")) == "new!")
        #expect(try shell.cat(path("c")) == "new")
        #expect(try shell.cat(path("new")) == "other")
    }

    @Test("T4: a renamed service takes all its items along, in one commit of one row")
    func renameService() throws {
        for number in 0..<20 { try shell.put(path("n\(number)"), "x") }
        #expect(try fixture.commits { try shell.rename(dir, "generic-passwords/t") } == 1)
        #expect(try shell.list("generic-passwords/t").count == 20)
        #expect(try shell.getxattr("generic-passwords/t/n3", "kSecAttrService") == "t")
        #expect(throws: Errno.directoryNotEmpty) { try shell.rmdir("generic-passwords/t") }
    }

    @Test("T6: a listing in pieces neither repeats nor hides while names come, go and are committed")
    func listing() throws {
        for number in 0..<40 { try shell.put(path("n\(number)"), "x") }
        let open = try shell.open(path("pending"), [.writeOnly, .create])
        #expect(try shell.list(dir).count == 41)
        try shell.write(open, "x")
        try shell.close(open)
        #expect(Set(try shell.list(dir)) == Set((0..<40).map { "n\($0)" } + ["pending"]))
    }

    @Test("X4: names outside user. need no store access, because the kernel requests one before each write")
    func foreignNamespaces() throws {
        try shell.put(path("a"), "x")
        let node = try shell.entry(path("a")).node
        shell.tree.table.withLock { $0.allItems() }.forEach { shell.tree.withState(of: $0) { $0.item = nil } }
        fixture.store.close()
        for name in ["security.capability", "system.posix_acl_access", "trusted.x"] {
            #expect(throws: Errno.operationNotSupported) {
                try shell.ask { (request) throws(Errno) in
                    try shell.tree.getxattr(&request, node: node, name: Array(name.utf8))
                }
            }
        }
    }

    @Test("X4: names outside user. need no store access for directories either, in every call")
    func foreignNamespacesOfDirectories() throws {
        let nodes = try [dir, "generic-passwords", "access-groups"].map { try shell.entry($0).node } + [.root]
        fixture.store.close()
        for (node, text) in nodes.flatMap({ node in
            ["security.selinux", "system.posix_acl_access", "system.posix_acl_default", "trusted.x", "user", ""]
                .map { (node, $0) }
        }) {
            let (name, value) = (Array(text.utf8), [UInt8](repeating: 1, count: 4))
            #expect(throws: Errno.operationNotSupported, "\(text)") {
                try shell.ask { (request) throws(Errno) in
                    _ = try shell.tree.getxattr(&request, node: node, name: name)
                }
            }
            #expect(throws: Errno.operationNotSupported, "\(text)") {
                try shell.ask { (request) throws(Errno) in
                    try shell.tree.setxattr(&request, node: node, name: name, value: value.rawSpan, flags: [])
                }
            }
            #expect(throws: Errno.operationNotSupported, "\(text)") {
                try shell.ask { (request) throws(Errno) in
                    try shell.tree.removexattr(&request, node: node, name: name)
                }
            }
        }
    }

    @Test("X3: setting the account renames the file, and notifies the kernel of both names")
    func renameByAttribute() throws {
        try shell.put(path("a"), "x")
        try shell.setxattr(path("a"), "kSecAttrAccount", "b")
        #expect(try shell.list(dir) == ["b"])
        guard case .allEntries = shell.notifications.last else {
            Issue.record("nothing told before the answer"); return
        }
        let notified = shell.notificationsAfterReply.flatMap { notification -> [EntryName?] in
            if case .allEntries(let fallback) = notification { fallback().map(\.name) } else { [] }
        }
        #expect(notified == [EntryName("a"), EntryName("b")])
        try shell.put(path("a"), "y")
        #expect(throws: Errno.fileExists) { try shell.setxattr(path("a"), "kSecAttrAccount", "b") }
        try shell.setxattr(path("b"), "kSecAttrService", "elsewhere")
        #expect(try shell.cat("generic-passwords/elsewhere/b") == "x")
    }

    @Test("X3: a name that is not committed yet is taken, for a rename by attribute too")
    func renameByAttributeOntoPending() throws {
        try shell.put(path("a"), "x")
        let file = try shell.open(path("b"), [.writeOnly, .create])
        try shell.write(file, "y")
        #expect(throws: Errno.fileExists) { try shell.setxattr(path("a"), "kSecAttrAccount", "b") }
        try shell.close(file)
        #expect(try shell.cat(path("a")) == "x" && shell.cat(path("b")) == "y")
    }

    @Test("L1, L2: locked items fail with ENOKEY, open descriptors too, and a listing ends with it")
    func locked() throws {
        try shell.put(path("a"), "x")
        try shell.put(path("b"), "y")
        try shell.setxattr(path("b"), "kSecAttrAccessible", "AfterFirstUnlock")
        let reader = try shell.open(path("a"))
        let writer = try shell.open(path("a"), [.writeOnly])
        try shell.write(writer, "staged")
        _ = fixture.tree.lock()
        #expect(throws: Errno.noKey) { try shell.cat(path("a")) }
        #expect(throws: Errno.noKey) { try shell.stat(path("a")) }
        #expect(throws: Errno.noKey) { try shell.unlink(path("a")) }
        #expect(throws: Errno.noKey) { try shell.rename(path("b"), path("a")) }
        #expect(throws: Errno.noKey) { try shell.open(path("new"), [.writeOnly, .create]) }
        #expect(throws: Errno.noKey) { try shell.read(reader) }
        #expect(throws: Errno.noKey) { try shell.write(writer, "x") }
        #expect(throws: Errno.noKey) { try shell.close(writer) }
        #expect(throws: Errno.noKey) { try shell.list(dir) }
        #expect(throws: Errno.noSuchFileOrDirectory) { try shell.stat(path("none")) }
        #expect(throws: Errno.noKey) { try shell.rename(dir, "generic-passwords/t") }
        #expect(try shell.cat(path("b")) == "y")
        try fixture.tree.unlock(passphrase: try TreeFixture.secret())
        #expect(try shell.cat(path("a")) == "x")
        #expect(try shell.list(dir) == ["a", "b"])
    }

    @Test("L2: a descriptor returns ENOKEY at its end of file too: of an empty item, a staged value, a deleted item")
    func lockedAtTheEnd() throws {
        for name in ["empty", "a", "gone"] { try shell.put(path(name), name == "empty" ? "" : "x") }
        try shell.mknod(path("none"))
        let names = ["empty", "a", "gone", "none"]
        var files = try names.map { try shell.open(path($0)) } + names.map { try shell.open(path($0), [.readWrite]) }
        try shell.unlink(path("gone"))
        let staged = try shell.open(path("staged"), [.readWrite, .create])
        try shell.write(staged, "y")
        files += [staged, try shell.open(path("staged"))]
        for file in files { #expect(try shell.read(file, at: 1).isEmpty) }
        _ = fixture.tree.lock()
        for file in files {
            for offset in [0, 1, 2, 1 << 20] { #expect(throws: Errno.noKey) { try shell.read(file, at: offset) } }
        }
    }

    @Test("S4: a damaged item is EBADMSG, the others stay usable, and it can be removed")
    func damaged() throws {
        try shell.put(path("a"), "x")
        try shell.put(path("b"), "y")
        let row = RowID(rawValue: Int64(try shell.stat(path("a")).inode.rawValue))
        try fixture.store.write { (writer) throws(KeychainFault) in
            guard var record = try writer.item(id: row) else { throw .itemNotFound }
            record.metadata.ciphertext[0] ^= 1
            try writer.put(record, secret: nil)
        }
        shell.tree.table.withLock { $0.allItems() }.forEach { shell.tree.withState(of: $0) { $0.item = nil } }
        #expect(throws: Errno.corrupt) { try shell.cat(path("a")) }
        #expect(try shell.cat(path("b")) == "y")
        #expect(throws: Errno.corrupt) { try shell.list(dir) }
        try shell.unlink(path("a"))
        #expect(try shell.list(dir) == ["b"])
    }

    @Test("L2, F10: after a lock the kernel looks up every name again, and drops its data of every item that it knows")
    func notifiedByLock() throws {
        for name in ["a", "b", "c"] { try shell.put(path(name), "x") }
        let node = try shell.entry(path("a")).node
        let reader = try shell.open(path("b"))
        let notified = fixture.tree.lock()
        guard case .allEntries(let fallback)? = notified.first else { Issue.record("names are kept"); return }
        guard case .inodes(let nodes, false) = notified[1] else { Issue.record("attributes are kept"); return }
        #expect(nodes.contains(node) && nodes.contains(reader.node))
        guard case .inodes(let used, true) = notified[3] else { Issue.record("pages are kept"); return }
        #expect(used.contains(reader.node))
        // For an older kernel: the top-level directories, which include their contents, and open files.
        let names = fallback().map { String(decoding: $0.name.bytes, as: UTF8.self) }
        let parents = fallback().map(\.parent)
        #expect(
            Set(names).isSuperset(of: [
                "generic-passwords", "internet-passwords", "synchronizable", "access-groups", "b",
            ]))
        #expect(names.filter { $0 == "a" || $0 == "c" }.isEmpty)
        let directory = try shell.entry(dir).node
        for (name, parent) in zip(names, parents) { #expect(parent == (name == "b" ? directory : .root)) }
        shell.release(reader)
    }

    @Test("F10: no operation notifies the kernel of a change that the kernel makes itself")
    func noNotifications() throws {
        try shell.mkdir("generic-passwords/t")
        try shell.mkdir("access-groups/g")
        for name in ["a", "b", "c"] { try shell.put(path(name), "x") }
        try shell.mknod(path("n"))
        try shell.setattr(path("a")) { $0.permissions = 0o640 }
        try shell.setattr(path("a")) { $0.size = 0 }
        try shell.setxattr(path("a"), "kSecAttrLabel", "L")
        try shell.setxattr(path("a"), "kSecAttrAccessible", "Always")
        try shell.setxattr(path("a"), "kSecAttrAccount", "a")
        try shell.removexattr(path("a"), "kSecAttrLabel")
        try shell.setxattr(dir, "kSecAttrAccessible", "AfterFirstUnlock")
        try shell.rename(path("a"), path("b"))
        try shell.rename(path("b"), path("c"), .exchange)
        try shell.rename(path("c"), "generic-passwords/t/c")
        let file = try shell.open(path("new"), [.writeOnly, .create])
        try shell.rename(path("new"), path("newer"))
        try shell.unlink(path("newer"))
        try shell.close(file)
        _ = try shell.list(dir)
        try shell.rename("access-groups/g", "access-groups/h")
        try shell.mkdir("access-groups/h/generic-passwords/s")
        try shell.rename("generic-passwords/t", "access-groups/h/generic-passwords/s")
        try shell.unlink("access-groups/h/generic-passwords/s/c")
        try shell.rmdir("access-groups/h/generic-passwords/s")
        try shell.rmdir("access-groups/h")
        #expect(shell.notifications.isEmpty && shell.notificationsAfterReply.isEmpty)
    }

    @Test("T1: a name in a spelling other than the canonical one is refused by every operation")
    func notCanonical() throws {
        try shell.put(path("a"), "x")
        for (name, errno) in [("%61", Errno.invalidArgument), ("%", nil), ("a%", .invalidArgument)] {
            for path in [path(name), "generic-passwords/\(name)", "access-groups/\(name)"] {
                #expect(throws: errno ?? .noSuchFileOrDirectory) { try shell.stat(path) }
            }
        }
        for name in ["%61", "a%2f"] {
            #expect(throws: Errno.invalidArgument) { try shell.open(path(name), [.writeOnly, .create]) }
            #expect(throws: Errno.invalidArgument) { try shell.mknod(path(name)) }
            #expect(throws: Errno.invalidArgument) { try shell.mkdir("generic-passwords/\(name)") }
            #expect(throws: Errno.invalidArgument) { try shell.rename(path("a"), path(name)) }
            #expect(throws: Errno.invalidArgument) { try shell.rename(dir, "generic-passwords/\(name)") }
        }
        // A cut name represents a key that the name does not contain: it can be looked up, but not created.
        let cut = String(repeating: "a", count: 221) + "%~" + String(repeating: "0", count: 32)
        // Names of generic services have one byte less.
        let folder = String(cut.dropFirst())
        #expect(throws: Errno.invalidArgument) { try shell.mkdir("generic-passwords/\(cut)") }
        #expect(throws: Errno.fileNameTooLong) { try shell.open(path(cut), [.writeOnly, .create]) }
        #expect(throws: Errno.fileNameTooLong) { try shell.mknod(path(cut)) }
        #expect(throws: Errno.fileNameTooLong) { try shell.mkdir("generic-passwords/\(folder)") }
        #expect(throws: Errno.fileNameTooLong) { try shell.mkdir("internet-passwords/\(cut)") }
        #expect(throws: Errno.fileNameTooLong) { try shell.rename(path("a"), path(cut)) }
        #expect(throws: Errno.fileNameTooLong) { try shell.rename(dir, "generic-passwords/\(folder)") }
        #expect(throws: Errno.noSuchFileOrDirectory) { try shell.stat(path(cut)) }
        let bad = try #require(EntryName([0x61, 0xFF]))
        for (parent, _) in [try shell.parent(path("x")), try shell.parent(dir), try shell.parent("access-groups/g")] {
            #expect(throws: Errno.illegalSequence) {
                try shell.ask { (request) throws(Errno) in
                    _ = try shell.tree.lookup(&request, parent: parent, name: bad)
                }
            }
        }
        #expect(try shell.list(dir) == ["a"] && shell.list("generic-passwords") == ["s"])
    }

    @Test("F10: the kernel's lookups are released: no inode stays without a lookup count")
    func lookups() throws {
        for number in 0..<30 { try shell.put(path("n\(number)"), "x") }
        _ = try shell.list(dir)
        // The root, the control directory and its files.
        let fixedNodes = 5
        // Each path walk leaves the directories with one lookup that is not released.
        #expect(shell.tree.table.withLock { $0.count } <= fixedNodes + 2)
    }
}
