import FileSystemCore
import Keychain
import KeychainTesting
import SystemPackage
import Testing

@testable import KeychainTree

/// L1: the names that are listed and found while locked, and before the first unlock.
@Suite struct LockedListingTests {
    private let fixture: TreeFixture
    private let shell: TreeProcess
    private let place = "generic-passwords"

    init() throws {
        fixture = try TreeFixture()
        shell = TreeProcess(fixture)
        for (directory, protection) in [
            ("protected", "WhenUnlocked"), ("later", "AfterFirstUnlock"), ("early", "Always"),
            ("open", "WhenUnlockedUnlessOpen"),
        ] {
            try shell.mkdir("\(place)/\(directory)")
            try shell.setxattr("\(place)/\(directory)", "kSecAttrAccessible", protection)
            try shell.put("\(place)/\(directory)/a", "x")
        }
        try shell.mkdir("\(place)/empty")
    }

    /// Returns the names of a listing and its final error; no names if it cannot be opened.
    private func listing(_ path: String, by shell: TreeProcess) throws -> (names: [String], error: Errno?)? {
        let node = try shell.entry(path).node
        guard let handle = try? shell.ask({ (request) throws(Errno) in try shell.tree.opendir(&request, node: node) })
        else { return nil }
        var sink = NameSink()
        do {
            try shell.ask { (request) throws(Errno) in
                try shell.tree.readdir(&request, node: node, handle: handle, offset: 0, into: &sink)
            }
            return (sink.names, nil)
        } catch {
            return (sink.names, error)
        }
    }

    /// A mount that has not been unlocked yet.
    private func cold(device: UInt8 = 1) throws -> (fixture: TreeFixture, shell: TreeProcess) {
        let fixture = try TreeFixture(copying: fixture.store.records, device: device, isUnlocked: false)
        return (fixture, TreeProcess(fixture))
    }

    @Test("L1: while locked a directory with an available item is listed, and available by name")
    func directories() throws {
        #expect(try shell.list(place) == ["protected", "later", "early", "open", "empty"])
        _ = fixture.tree.lock()
        let found = try #require(try listing(place, by: shell))
        #expect(found.names == ["later", "early"] && found.error == .noKey)
        for name in ["protected", "later", "early", "open", "empty"] { _ = try shell.stat("\(place)/\(name)") }
        #expect(throws: Errno.noSuchFileOrDirectory) { try shell.stat("\(place)/none") }
        #expect(try shell.list(place + "/later") == ["a"])
        try fixture.tree.unlock(passphrase: try TreeFixture.secret())
        #expect(try shell.list(place).count == 5)
    }

    @Test("L1: a name that is not committed yet keeps its directory in the listing, if it is available itself")
    func uncommitted() throws {
        try shell.setxattr(place + "/empty", "kSecAttrAccessible", "AfterFirstUnlock")
        let file = try shell.open(place + "/empty/new", [.writeOnly, .create])
        _ = fixture.tree.lock()
        #expect(try listing(place, by: shell)?.names == ["later", "early", "empty"])
        try shell.close(file)
        #expect(try listing(place, by: shell)?.names == ["later", "early", "empty"])
    }

    @Test("L1: with nothing to show a directory of directories does not open; the folders with fixed names are listed")
    func nothingToShow() throws {
        try shell.mkdir("internet-passwords/h")
        try shell.mkdir("access-groups/g")
        try shell.mkdir("access-groups/g/generic-passwords/s")
        _ = fixture.tree.lock()
        #expect(try listing("internet-passwords", by: shell) == nil)
        #expect(try listing("access-groups", by: shell) == nil)
        #expect(try listing("access-groups/g/generic-passwords", by: shell) == nil)
        #expect(try shell.list("access-groups/g").count == 3)
        #expect(try shell.list("synchronizable").count == 2)
        #expect(try shell.list("synchronizable/generic-passwords") == [])
        #expect(throws: Errno.noSuchFileOrDirectory) { try shell.stat("access-groups/none") }
    }

    @Test(
        "M3: a container of another item class neither shows nor hides anything", arguments: ["Always", "WhenUnlocked"])
    func unsupportedClass(_ protection: String) throws {
        let keychain = fixture.tree.keychain
        let file = PosixAttributes(
            inode: 9000, permissions: 0o600, userID: 0, groupID: 0, modificationTime: keychain.now(),
            accessTime: keychain.now())
        let certificates = try keychain.addContainer(.certificate, file: file)
        var certificate = Item(
            id: try keychain.reserveRowID(), directory: certificates,
            protection: protection == "Always" ? .always : .whenUnlocked, account: .text(Array("c".utf8)),
            creationDate: keychain.now(), persistentReference: [UInt8](repeating: 1, count: 16), file: file)
        certificate.becomeKey(.certificate)
        try keychain.add(certificate, contents: [1])
        #expect(try shell.list("access-groups") == [])
        let root = try shell.list("")
        try shell.mkdir("access-groups/b")
        try shell.mkdir("access-groups/b/generic-passwords/s")
        try shell.put("access-groups/b/generic-passwords/s/x", "x")
        _ = fixture.tree.lock()
        #expect(try listing("access-groups", by: shell) == nil)
        #expect(try shell.list("") == root)
        try fixture.tree.unlock(passphrase: try TreeFixture.secret())
        try shell.setxattr("access-groups/b/generic-passwords/s/x", "kSecAttrAccessible", "AfterFirstUnlock")
        _ = fixture.tree.lock()
        let found = try #require(try listing("access-groups", by: shell))
        #expect(found.names == ["b"] && found.error == nil)
    }

    @Test("L1: a group is listed as long as anything in it is available")
    func groups() throws {
        for (group, protection) in [("a", "WhenUnlocked"), ("b", "AfterFirstUnlock")] {
            try shell.mkdir("access-groups/\(group)")
            try shell.mkdir("access-groups/\(group)/generic-passwords/s")
            try shell.put("access-groups/\(group)/generic-passwords/s/x", "x")
            try shell.setxattr("access-groups/\(group)/generic-passwords/s/x", "kSecAttrAccessible", protection)
        }
        _ = fixture.tree.lock()
        let found = try #require(try listing("access-groups", by: shell))
        #expect(found.names == ["b"] && found.error == .noKey)
    }

    @Test(
        "L1: before the first unlock Always items are available; every other name is ENOKEY, whether it exists or not")
    func beforeFirstUnlock() throws {
        let (fixture, shell) = try cold()
        #expect(try shell.cat(place + "/early/a") == "x")
        #expect(try shell.getxattr(place + "/early/a", "kSecAttrAccessible") == "Always")
        #expect(try listing(place, by: shell)?.names == ["early"])
        #expect(try listing(place, by: shell)?.error == .noKey)
        for name in ["early/none", "protected", "later", "empty", "none"] {
            #expect(throws: Errno.noKey) { try shell.stat("\(place)/\(name)") }
        }
        #expect(throws: Errno.noKey) { try shell.stat("access-groups/none") }
        // The kernel caches no missing name, so existing items are found after the unlock.
        try fixture.tree.unlock(passphrase: try TreeFixture.secret())
        #expect(try shell.cat(place + "/protected/a") == "x")
        #expect(throws: Errno.noSuchFileOrDirectory) { try shell.stat(place + "/early/none") }
    }

    @Test(
        "L1, S3: nor does it matter where its directory has been moved: a group is found by it, and by nothing else",
        arguments: [RenameFlags(), .exchange])
    func movedBeforeFirstUnlock(flags: RenameFlags) throws {
        let groups = ["g", "h"].map { "access-groups/\($0)" }
        let places = [place] + groups.map { "\($0)/\(place)" }
        for group in groups { try shell.mkdir(group) }
        if flags == .exchange { for place in places.dropFirst() { try shell.mkdir(place + "/early") } }
        for (from, to) in zip(places, places.dropFirst()) {
            try shell.rename(from + "/early", to + "/early", flags)
            let later = try cold().shell
            #expect(try later.cat(to + "/early/a") == "x")
            #expect(try listing(to, by: later)?.names == ["early"])
            #expect(throws: Errno.noKey) { try later.stat(from + "/early") }
        }
        #expect(throws: Errno.noKey) { try cold().shell.stat(groups[0]) }
    }

    @Test("L1: before the first unlock every change is ENOKEY, of an Always item too, and nothing is committed")
    func changesBeforeFirstUnlock() throws {
        let (fixture, shell) = try cold()
        let item = place + "/early/a"
        let changes: [() throws -> Void] = [
            { _ = try shell.open(item, [.writeOnly]) }, { _ = try shell.open(item, [.writeOnly, .truncate]) },
            { try shell.unlink(item) }, { try shell.rename(item, place + "/early/b") },
            { try shell.setattr(item) { $0.permissions = 0o640 } }, { try shell.setattr(item) { $0.size = 0 } },
            { try shell.setxattr(item, "kSecAttrLabel", "L") }, { try shell.removexattr(item, "kSecAttrAccessible") },
            { try shell.setxattr(place + "/early", "kSecAttrAccessible", "WhenUnlocked") },
            { try shell.rmdir(place + "/early") }, { try shell.rename(place + "/early", place + "/t") },
            { try shell.setattr(place + "/early") { $0.permissions = 0o750 } },
            { try shell.mkdir(place + "/t") }, { try shell.mkdir("access-groups/t") },
            { try shell.rmdir("access-groups/t") }, { try shell.mknod(place + "/early/n") },
            { _ = try shell.open(place + "/early/new", [.writeOnly, .create]) },
        ]
        for change in changes { #expect(throws: Errno.noKey) { try change() } }
        #expect(fixture.keychain.commitCount == 0)
    }

    @Test(
        "L1: a device that has never unlocked the keychain reads no Always item before its first unlock; then it does")
    func newDevice() throws {
        let (fixture, shell) = try cold(device: 2)
        #expect(throws: Errno.noKey) { try shell.stat(place + "/early") }
        #expect(try listing(place, by: shell) == nil)
        try fixture.tree.unlock(passphrase: try TreeFixture.secret())
        #expect(try shell.cat(place + "/early/a") == "x")
        let later = TreeProcess(try TreeFixture(copying: fixture.store.records, device: 2, isUnlocked: false))
        #expect(try later.cat(place + "/early/a") == "x")
    }

    @Test("L1: a keychain with nothing in it hides nothing: its listings end cleanly before the first unlock")
    func emptyKeychain() throws {
        let empty = try TreeFixture()
        let shell = TreeProcess(try TreeFixture(copying: empty.store.records, device: 1, isUnlocked: false))
        #expect(try shell.list(place) == [] && shell.list("access-groups") == [])
    }
}

private struct NameSink: DirectorySink {
    var names: [String] = []
    let wantsEntries = false

    mutating func add(_ name: EntryName, inode: InodeNumber, type: FileSystemCore.FileType, offset: UInt64) -> Bool {
        let text = String(decoding: name.bytes, as: UTF8.self)
        if text != ".", text != ".." { names.append(text) }
        return true
    }

    mutating func add(_ name: EntryName, entry: Entry, offset: UInt64) -> Bool { false }
}
