import FileSystemCore
import Keychain
import KeychainTesting
import SystemPackage
import Testing

@testable import KeychainTree

/// The directories above the services, whose path contains access group, synchronizable and item class.
@Suite struct ScopeDirectoryTests {
    private let fixture: TreeFixture
    private let shell: TreeProcess

    init() throws {
        fixture = try TreeFixture()
        shell = TreeProcess(fixture)
    }

    private static let scopes = ["", "synchronizable/", "access-groups/g/", "access-groups/g/synchronizable/"]
    private static let classes = ["generic-passwords", "internet-passwords"]

    /// Every directory with a fixed name, with a group `g`.
    private static let fixedPaths =
        scopes.flatMap { scope in classes.map { scope + $0 } }
        + ["synchronizable", "access-groups", "access-groups/g/synchronizable"]

    @Test("T1: a path says access group, synchronizable and class, and nothing else has that path")
    func paths() throws {
        try shell.mkdir("access-groups/g")
        var seen: Set<String> = []
        for (index, scope) in Self.scopes.enumerated() {
            for name in Self.classes {
                let directory = "\(scope)\(name)/s"
                try shell.mkdir(directory)
                try shell.put(directory + "/a", "\(index)\(name)")
                seen.insert(try shell.cat(directory + "/a"))
                #expect(try shell.getxattr(directory + "/a", "kSecAttrAccessGroup") == (index < 2 ? "default" : "g"))
                #expect(try shell.getxattr(directory + "/a", "kSecAttrSynchronizable") == "\(index % 2)")
                #expect(try shell.listxattr(directory + "/a").isEmpty)
                #expect(try shell.list(scope + name) == ["s"])
            }
        }
        #expect(seen.count == 8)
        for (index, scope) in Self.scopes.enumerated() {
            for name in Self.classes { #expect(try shell.cat("\(scope)\(name)/s/a") == "\(index)\(name)") }
        }
    }

    @Test(
        "T1: inodes of a group renamed by a repair of the indexes refer to that group, not to another of its old name"
    )
    func renamedByRepair() throws {
        try shell.mkdir("access-groups/g")
        try shell.mkdir("access-groups/g/generic-passwords/s")
        let classDirectory = try shell.entry("access-groups/g/generic-passwords").node
        let own = try shell.stat("access-groups/g/generic-passwords/s").inode
        let group = RowID(rawValue: Int64(try shell.stat("access-groups/g").inode.rawValue))
        try fixture.keychain.change { change throws(KeychainFault) in
            try change.renameGroup(group, to: Array("g~2".utf8))
        }
        #expect(!fixture.tree.forgetNames().isEmpty)
        try shell.mkdir("access-groups/g")
        try shell.mkdir("access-groups/g/generic-passwords/s")
        var request = Request(caller: Caller(userID: 1000, groupID: 1000, processID: 1))
        let found = try fixture.tree.lookup(&request, parent: classDirectory, name: #require(EntryName("s")))
        guard case .found(let entry) = found else { return #expect(Bool(false), "the directory is not found") }
        #expect(entry.attributes.inode == own)
        #expect(try shell.stat("access-groups/g~2/generic-passwords/s").inode == own)
    }

    @Test("T1, T2: group names have one spelling; the default group has no second path")
    func groupNames() throws {
        for name in ["com.example.app", "a%2Fb", "%", "%2E%2E", "Grüße 🔑", "with,comma=x"] {
            try shell.mkdir("access-groups/\(name)")
            try shell.mkdir("access-groups/\(name)/generic-passwords/s")
            try shell.put("access-groups/\(name)/generic-passwords/s/a", "x")
        }
        #expect(try shell.list("access-groups").count == 6)
        #expect(try shell.getxattr("access-groups/a%2Fb/generic-passwords/s/a", "kSecAttrAccessGroup") == "a/b")
        #expect(try shell.getxattr("access-groups/%/generic-passwords/s/a", "kSecAttrAccessGroup") == "")
        for name in ["default", "%41", "a%", "%2f", "%FF"] {
            #expect(throws: Errno.invalidArgument) { try shell.mkdir("access-groups/\(name)") }
            #expect(throws: Errno.invalidArgument) { try shell.stat("access-groups/\(name)") }
        }
        let cut = String(repeating: "a", count: 221) + "%~" + String(repeating: "0", count: 32)
        #expect(throws: Errno.fileNameTooLong) { try shell.mkdir("access-groups/\(cut)") }
    }

    @Test("T5: fixed names can be neither created, removed, renamed nor written")
    func upperLevels() throws {
        try shell.mkdir("access-groups/g")
        try shell.mkdir("generic-passwords/s")
        try shell.put("generic-passwords/s/a", "x")
        for parent in Self.fixedPaths + ["access-groups/g"] where !parent.hasSuffix("passwords") {
            #expect(throws: Errno.notPermitted) { try shell.open("\(parent)/f", [.writeOnly, .create]) }
            #expect(throws: Errno.notPermitted) { try shell.rename("generic-passwords/s/a", "\(parent)/a") }
            #expect(throws: Errno.notPermitted) { try shell.rename("generic-passwords/s", "\(parent)/s") }
            guard parent != "access-groups" else { continue }
            #expect(throws: Errno.notPermitted) { try shell.mkdir("\(parent)/d") }
        }
        for path in Self.fixedPaths {
            #expect(throws: Errno.notPermitted) { try shell.rmdir(path) }
            #expect(throws: Errno.notPermitted) { try shell.rename(path, "generic-passwords/x") }
            #expect(throws: Errno.isDirectory) { try shell.unlink(path) }
            #expect(throws: Errno.notPermitted) { try shell.setattr(path) { $0.permissions = 0o500 } }
            #expect(try shell.listxattr(path).isEmpty)
            #expect(throws: Errno.noAttribute) { try shell.getxattr(path, "kSecAttrLabel") }
            #expect(throws: Errno.operationNotSupported) { try shell.setxattr(path, "kSecAttrLabel", "L") }
        }
        #expect(throws: Errno.notPermitted) {
            try shell.rename("generic-passwords", "synchronizable/internet-passwords")
        }
        #expect(throws: Errno.crossDevice) {
            try shell.rename("generic-passwords/s", "access-groups/g/internet-passwords/s")
        }
    }

    @Test("T6: inode numbers of all directories differ, and are the same in every mount; .. is the directory above")
    func inodes() throws {
        try shell.mkdir("access-groups/g")
        try shell.mkdir("access-groups/h")
        let paths = Self.fixedPaths + ["access-groups/g", "access-groups/h", "access-groups/h/generic-passwords"]
        let other = TreeProcess(try TreeFixture(mounting: fixture))
        var inodes: Set<UInt64> = [1]
        for path in paths.reversed() {
            let inode = try shell.stat(path).inode
            #expect(try other.stat(path).inode == inode, "\(path)")
            #expect(inodes.insert(inode.rawValue).inserted, "\(path)")
        }
        try shell.mkdir("access-groups/g/synchronizable/generic-passwords/s")
        for path in paths + ["access-groups/g/synchronizable/generic-passwords/s"] {
            let above = path.split(separator: "/").dropLast().joined(separator: "/")
            let parent = above.isEmpty ? InodeNumber(rawValue: 1) : try shell.stat(above).inode
            let dots = try shell.dots(path)
            #expect(dots == [try shell.stat(path).inode, parent], "\(path)")
        }
    }

    @Test("T4: a group lasts while empty, across mounts, until it is removed; one with a service is not empty")
    func groupLife() throws {
        try shell.mkdir("access-groups/g")
        #expect(throws: Errno.fileExists) { try shell.mkdir("access-groups/g") }
        #expect(try TreeProcess(try TreeFixture(mounting: fixture)).list("access-groups") == ["g"])
        try shell.mkdir("access-groups/g/synchronizable/internet-passwords/h")
        #expect(throws: Errno.directoryNotEmpty) { try shell.rmdir("access-groups/g") }
        try shell.rmdir("access-groups/g/synchronizable/internet-passwords/h")
        let below = try shell.entry("access-groups/g/generic-passwords").node
        try shell.rmdir("access-groups/g")
        #expect(try shell.list("access-groups").isEmpty)
        // A process still has it as its working directory; no call creates the group again.
        #expect(throws: Errno.noSuchFileOrDirectory) {
            try shell.ask { (request) throws(Errno) in
                _ = try shell.tree.mkdir(
                    &request, parent: below, name: shell.name("s"), permissions: 0o700)
            }
        }
        #expect(try fixture.keychain.group(named: CanonicalName(typed: Array("g".utf8))) == nil)
        try shell.mkdir("access-groups/g")
        #expect(try shell.list("access-groups/g/generic-passwords").isEmpty)
    }

    @Test("T4, F8: a group has its own mode, owner and times")
    func groupFacts() throws {
        try shell.mkdir("access-groups/g")
        try shell.setattr("access-groups/g") { $0.permissions = 0o500 }
        let attributes = try shell.stat("access-groups/g")
        #expect(attributes.permissions == 0o500 && attributes.type == .directory)
        // Two classes and `synchronizable`.
        #expect(attributes.linkCount == 5)
    }

    @Test("T5, F5: items and services move between groups and to synchronizable, in one commit, with their contents")
    func moves() throws {
        try shell.mkdir("access-groups/g")
        let (dir, other) = ("generic-passwords/s", "access-groups/g/generic-passwords/t")
        try shell.mkdir(dir)
        try shell.mkdir(other)
        try shell.put(dir + "/a", "A")
        let file = try shell.open(dir + "/a")
        let inode = try shell.stat(dir + "/a").inode
        #expect(try fixture.commits { try shell.rename(dir + "/a", other + "/b") } == 1)
        #expect(try shell.cat(other + "/b") == "A")
        #expect(try shell.stat(other + "/b").inode == inode)
        #expect(try shell.getxattr(other + "/b", "kSecAttrAccessGroup") == "g")
        #expect(try shell.read(file) == Array("A".utf8))
        for number in 0..<20 { try shell.put("\(other)/n\(number)", "x") }
        let moved = "access-groups/g/synchronizable/generic-passwords/t"
        #expect(try fixture.commits { try shell.rename(other, moved) } == 1)
        #expect(try shell.list(moved).count == 21)
        #expect(throws: Errno.noSuchFileOrDirectory) { try shell.stat(other) }
        #expect(try shell.getxattr(moved + "/n3", "kSecAttrSynchronizable") == "1")
        try shell.put(moved + "/new", "made after the move")
        #expect(try shell.getxattr(moved + "/new", "kSecAttrSynchronizable") == "1")
        try shell.rename(moved, dir, .exchange)
        #expect(try shell.list(moved).isEmpty)
        #expect(try shell.getxattr(dir + "/b", "kSecAttrAccessGroup") == "default")
        #expect(try shell.getxattr(moved, "kSecAttrAccessGroup") == "g")
        #expect(try fixture.keychain.check().isConsistent)
    }

    @Test("T4: a renamed group takes its services along, at a cost that its items have no part in")
    func renameGroup() throws {
        try shell.mkdir("access-groups/a")
        try shell.mkdir("access-groups/a/generic-passwords/s")
        try shell.mkdir("access-groups/a/synchronizable/internet-passwords/h")
        for number in 0..<20 { try shell.put("access-groups/a/generic-passwords/s/n\(number)", "x") }
        let rows = fixture.store.records.itemRecords
        let inode = try shell.stat("access-groups/a/generic-passwords").inode
        #expect(try fixture.commits { try shell.rename("access-groups/a", "access-groups/b") } == 1)
        #expect(fixture.store.records.itemRecords == rows)
        #expect(throws: Errno.noSuchFileOrDirectory) { try shell.stat("access-groups/a") }
        #expect(try shell.list("access-groups/b/generic-passwords/s").count == 20)
        #expect(try shell.stat("access-groups/b/generic-passwords").inode == inode)
        #expect(try shell.getxattr("access-groups/b/generic-passwords/s/n3", "kSecAttrAccessGroup") == "b")
        try shell.mkdir("access-groups/b/generic-passwords/later")
        #expect(try shell.list("access-groups/b/generic-passwords") == ["s", "later"])
        #expect(try shell.list("access-groups/b/synchronizable/internet-passwords") == ["h"])
        try shell.mkdir("access-groups/a")
        #expect(throws: Errno.fileExists) { try shell.rename("access-groups/b", "access-groups/a", .noReplace) }
        #expect(throws: Errno.directoryNotEmpty) { try shell.rename("access-groups/a", "access-groups/b") }
        try shell.rename("access-groups/b", "access-groups/a")
        #expect(try shell.list("access-groups") == ["a"])
        #expect(throws: Errno.invalidArgument) { try shell.rename("access-groups/a", "access-groups/default") }
        try shell.mkdir("access-groups/c")
        try shell.rename("access-groups/a", "access-groups/c", .exchange)
        #expect(try shell.cat("access-groups/c/generic-passwords/s/n3") == "x")
        #expect(try shell.list("access-groups/a/generic-passwords").isEmpty)
        #expect(try fixture.keychain.check().isConsistent)
        let other = TreeProcess(try TreeFixture(mounting: fixture))
        #expect(try other.list("access-groups/c/generic-passwords/s").count == 20)
    }

    @Test("T4: a process below a renamed group, and a listing in progress, see the group under its new name")
    func belowRenamedGroup() throws {
        try shell.mkdir("access-groups/a")
        try shell.mkdir("access-groups/a/generic-passwords/s")
        let below = try shell.entry("access-groups/a/generic-passwords").node
        try shell.rename("access-groups/a", "access-groups/b")
        let (found, missing) = try shell.ask { (request) throws(Errno) in
            (
                try shell.tree.lookup(&request, parent: below, name: shell.name("s")),
                try shell.tree.lookup(&request, parent: below, name: shell.name("none"))
            )
        }
        guard case .found(let entry) = found, case .absent = missing else {
            Issue.record("not found below a renamed group"); return
        }
        let value = try shell.ask { (request) throws(Errno) in
            try shell.tree.getxattr(&request, node: entry.node, name: Array("user.kSecAttrAccessGroup".utf8))
        }
        #expect(value == Array("b".utf8))
        // A service that has been known since before, when nothing above it is any more.
        fixture.tree.forget(entry.node, count: 1)
        fixture.tree.forget(below, count: 100)
        try shell.put("access-groups/b/generic-passwords/s/x", "x")
        let service = try shell.entry("access-groups/b/generic-passwords/s").node
        let item = try shell.entry("access-groups/b/generic-passwords/s/x").node
        try shell.rename("access-groups/b", "access-groups/c")
        for node in [service, item] {
            let value = try shell.ask { (request) throws(Errno) in
                try shell.tree.getxattr(&request, node: node, name: Array("user.kSecAttrAccessGroup".utf8))
            }
            #expect(value == Array("c".utf8))
        }
        try shell.setxattr("access-groups/c/generic-passwords/s/x", "kSecAttrService", "t")
        #expect(try shell.cat("access-groups/c/generic-passwords/t/x") == "x")
        #expect(try shell.list("access-groups") == ["c"])
    }

    @Test("X3: another access group or synchronizable moves the item, and makes what is missing on the way")
    func movedByAttribute() throws {
        try shell.mkdir("generic-passwords/s")
        try shell.put("generic-passwords/s/a", "x")
        try shell.setxattr("generic-passwords/s/a", "kSecAttrAccessGroup", "default")
        try shell.setxattr("generic-passwords/s/a", "kSecAttrAccessGroup", "team")
        #expect(try shell.list("generic-passwords/s").isEmpty)
        let moved = "access-groups/team/generic-passwords/s/a"
        #expect(try shell.cat(moved) == "x")
        try shell.setxattr(moved, "kSecAttrSynchronizable", "1")
        let synchronized = "access-groups/team/synchronizable/generic-passwords/s/a"
        #expect(try shell.cat(synchronized) == "x")
        try shell.put(moved, "taken")
        #expect(throws: Errno.fileExists) { try shell.setxattr(synchronized, "kSecAttrSynchronizable", "0") }
        let long = String(repeating: "g", count: 300)
        try shell.setxattr(synchronized, "kSecAttrAccessGroup", long)
        let cut = try #require(try shell.list("access-groups").first { $0.hasPrefix("ggg") })
        let path = "access-groups/\(cut)/synchronizable/generic-passwords/s/a"
        #expect(cut.utf8.count == 255)
        // X1: what the path cannot say in full is listed.
        #expect(try shell.listxattr(path) == ["kSecAttrAccessGroup"])
        #expect(try shell.getxattr(path, "kSecAttrAccessGroup") == long)
        try shell.rename("access-groups/\(cut)", "access-groups/short")
        #expect(try shell.listxattr("access-groups/short/synchronizable/generic-passwords/s/a").isEmpty)
    }

    @Test("L1: a group that holds an unavailable item is neither renamed nor removed while locked")
    func locked() throws {
        for group in ["a", "b"] {
            try shell.mkdir("access-groups/\(group)")
            try shell.mkdir("access-groups/\(group)/generic-passwords/s")
        }
        try shell.put("access-groups/a/generic-passwords/s/x", "secret")
        _ = fixture.tree.lock()
        #expect(throws: Errno.noKey) { try shell.rename("access-groups/a", "access-groups/c") }
        #expect(throws: Errno.noKey) { try shell.rmdir("access-groups/a") }
        try shell.rename("access-groups/b", "access-groups/d")
        #expect(throws: Errno.directoryNotEmpty) { try shell.rmdir("access-groups/d") }
        #expect(throws: Errno.noKey) { try shell.list("access-groups") }
        try fixture.tree.unlock(passphrase: try TreeFixture.secret())
        #expect(try shell.list("access-groups") == ["a", "d"])
    }
}

extension TreeProcess {
    /// The inode numbers that a listing gives `.` and `..`.
    fileprivate func dots(_ path: String) throws(Errno) -> [InodeNumber] {
        let node = try entry(path).node
        let handle = try ask { (request) throws(Errno) in try tree.opendir(&request, node: node) }
        var sink = InodeSink()
        try ask { (request) throws(Errno) in
            try tree.readdir(&request, node: node, handle: handle, offset: 0, into: &sink)
        }
        return sink.inodes
    }
}

private struct InodeSink: DirectorySink {
    var inodes: [InodeNumber] = []
    let wantsEntries = false

    mutating func add(_ name: EntryName, inode: InodeNumber, type: FileSystemCore.FileType, offset: UInt64) -> Bool {
        guard inodes.count < 2 else { return false }
        inodes.append(inode)
        return true
    }

    mutating func add(_ name: EntryName, entry: Entry, offset: UInt64) -> Bool { false }
}
