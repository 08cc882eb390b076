import FileSystemCore
import Keychain
import KeychainTesting
import SystemPackage
import Testing

@testable import KeychainTree

/// T4 and T5: services and groups as directories.
@Suite struct ServiceTests: SingleServiceSuite {
    private let fixture: TreeFixture
    private let shell: TreeProcess

    init() throws {
        fixture = try TreeFixture()
        shell = TreeProcess(fixture)
        try shell.mkdir(dir)
        for number in 0..<20 { try shell.put("\(dir)/n\(number)", "x") }
    }

    @Test("T4: a rename of a service directory changes no row of an item")
    func costOfRename() throws {
        try shell.mkdir("access-groups/g")
        try shell.mkdir("access-groups/g/generic-passwords/s")
        try shell.mkdir("generic-passwords/empty")
        try shell.put("access-groups/g/generic-passwords/s/x", "x")
        let rows = fixture.store.records.itemRecords
        let steps: [(String, String, RenameFlags)] = [
            (dir, "generic-passwords/t", []), ("generic-passwords/t", "generic-passwords/empty", []),
            ("generic-passwords/empty", "synchronizable/generic-passwords/t", .noReplace),
            ("synchronizable/generic-passwords/t", "access-groups/g/generic-passwords/s", .exchange),
            ("access-groups/g", "access-groups/h", []),
        ]
        for (from, to, flags) in steps {
            #expect(try fixture.commits { try shell.rename(from, to, flags) } == 1, "\(from) to \(to)")
            #expect(fixture.store.records.itemRecords == rows, "\(from) to \(to)")
        }
        let path = "access-groups/h/generic-passwords/s"
        #expect(try shell.list(path).count == 20)
        #expect(try shell.getxattr(path + "/n3", "kSecAttrAccessGroup") == "h")
        #expect(try shell.list("synchronizable/generic-passwords/t") == ["x"])
        #expect(try shell.getxattr("synchronizable/generic-passwords/t/x", "kSecAttrService") == "t")
    }

    @Test("T4: a rename of a service that fails changes nothing", arguments: [RenameFlags(), .noReplace, .exchange])
    func failingRename(_ flags: RenameFlags) throws {
        let target = flags == .exchange ? "generic-passwords/old" : "generic-passwords/t"
        try shell.mkdir("generic-passwords/old")
        let before = fixture.store.records.directoryRecords
        fixture.store.failNextWrite(with: .diskFull)
        #expect(throws: Errno.noSpace) { try shell.rename(dir, target, flags) }
        #expect(fixture.store.records.directoryRecords == before)
        #expect(try shell.list(dir).count == 20)
        #expect(try shell.list("generic-passwords") == ["s", "old"])
        #expect(try shell.getxattr(dir + "/n1", "kSecAttrService") == "s")
        try shell.put(dir + "/later", "x")
        try shell.rename(dir, target, flags)
        #expect(try shell.list(target).count == 21)
    }

    @Test("T4, F5: a rename of a group that fails changes nothing", arguments: [RenameFlags(), .exchange])
    func failingGroupRename(_ flags: RenameFlags) throws {
        let inner = "access-groups/a/synchronizable/generic-passwords/s"
        for path in ["access-groups/a", inner, "access-groups/b"] { try shell.mkdir(path) }
        try shell.put(inner + "/x", "x")
        let container = try shell.entry("access-groups/a/synchronizable/generic-passwords").node
        let before = fixture.store.records.directoryRecords
        let target = flags == .exchange ? "access-groups/b" : "access-groups/c"
        fixture.store.failNextWrite(with: .diskFull)
        #expect(throws: Errno.noSpace) { try shell.rename("access-groups/a", target, flags) }
        #expect(fixture.store.records.directoryRecords == before)
        #expect(try shell.list("access-groups") == ["a", "b"])
        #expect(try shell.cat(inner + "/x") == "x")
        #expect(try shell.getxattr(inner + "/x", "kSecAttrAccessGroup") == "a")
        // By the kernel's own node, too.
        let found = try shell.ask { (request) throws(Errno) in
            try shell.tree.lookup(&request, parent: container, name: shell.name("s"))
        }
        guard case .found = found else { Issue.record("gone"); return }
        try shell.put(inner + "/y", "y")
        try shell.rename("access-groups/a", target, flags)
        #expect(try shell.list(target + "/synchronizable/generic-passwords/s") == ["x", "y"])
        #expect(try fixture.keychain.check().isConsistent)
    }

    @Test("T4: the flags of a rename hold for services and groups too")
    func flags() throws {
        try shell.mkdir("generic-passwords/t")
        try shell.mkdir("access-groups/g")
        for (path, parent) in [(dir, "generic-passwords"), ("access-groups/g", "access-groups")] {
            #expect(throws: Errno.noSuchFileOrDirectory) { try shell.rename(path, parent + "/none", .exchange) }
            #expect(throws: Errno.invalidArgument) { try shell.rename(path, parent + "/n", RenameFlags(rawValue: 4)) }
            #expect(throws: Errno.noSuchFileOrDirectory) { try shell.rename(parent + "/none", parent + "/n") }
            try shell.rename(path, path)
        }
        #expect(throws: Errno.fileExists) { try shell.rename(dir, "generic-passwords/t", .noReplace) }
        #expect(throws: Errno.directoryNotEmpty) { try shell.rename("generic-passwords/t", dir) }
        #expect(try shell.list("generic-passwords") == ["s", "t"])
    }

    @Test("T4: a service takes its mode, times, inode and default class along, and exchanges nothing but the name")
    func ownFacts() throws {
        try shell.mkdir("generic-passwords/t")
        try shell.setattr(dir) { $0.permissions = 0o500 }
        try shell.setxattr(dir, "kSecAttrAccessible", "AfterFirstUnlock")
        let (s, t) = (try shell.stat(dir), try shell.stat("generic-passwords/t"))
        try shell.rename(dir, "generic-passwords/t", .exchange)
        let now = (try shell.stat("generic-passwords/t"), try shell.stat(dir))
        #expect(now.0.inode == s.inode && now.0.permissions == 0o500 && now.0.modificationTime == s.modificationTime)
        #expect(now.1.inode == t.inode && now.1.permissions == 0o700)
        #expect(try shell.getxattr("generic-passwords/t", "kSecAttrAccessible") == "AfterFirstUnlock")
        #expect(try shell.getxattr(dir, "kSecAttrAccessible") == "WhenUnlocked")
    }

    @Test("T5: mknod is a create and a commit of an empty item, with one link")
    func mknod() throws {
        #expect(try fixture.commits { try shell.mknod(dir + "/node") } == 1)
        #expect(try shell.cat(dir + "/node") == "")
        let attributes = try shell.stat(dir + "/node")
        #expect(attributes.size == 0 && attributes.linkCount == 1 && attributes.permissions == 0o600)
        #expect(throws: Errno.fileExists) { try shell.mknod(dir + "/node") }
        let (node, name) = try shell.parent(dir + "/special")
        for type in [FileSystemCore.FileType.fifo, .socket, .characterDevice, .blockDevice] {
            #expect(throws: Errno.notPermitted) {
                try shell.ask { (request) throws(Errno) in
                    _ = try shell.tree.mknod(&request, parent: node, name: name, type: type, permissions: 0o600)
                }
            }
        }
    }

    @Test("T5: an item moves only within its class, by any path")
    func otherClass() throws {
        try shell.mkdir("internet-passwords/h")
        try shell.put("internet-passwords/h/me", "x")
        for (from, to) in [(dir + "/n1", "internet-passwords/h/n1"), ("internet-passwords/h/me", dir + "/me")] {
            for flags in [RenameFlags(), .noReplace] {
                #expect(throws: Errno.crossDevice) { try shell.rename(from, to, flags) }
            }
        }
        #expect(throws: Errno.crossDevice) { try shell.rename(dir + "/n1", "internet-passwords/h/me", .exchange) }
        #expect(throws: Errno.crossDevice) { try shell.rename(dir, "internet-passwords/s") }
        #expect(try shell.cat("internet-passwords/h/me") == "x" && shell.list(dir).count == 20)
    }

    @Test("T1: the upper levels know their own names alone")
    func foreignNames() throws {
        for path in ["certificates", "keys", "identities", "Generic-Passwords", "generic-passwords%", "default"] {
            #expect(throws: Errno.noSuchFileOrDirectory) { try shell.stat(path) }
            #expect(throws: Errno.notPermitted) { try shell.mkdir(path) }
        }
        try shell.mkdir("access-groups/g")
        for path in ["synchronizable/synchronizable", "synchronizable/.keychainfs", "access-groups/g/access-groups"] {
            #expect(throws: Errno.noSuchFileOrDirectory) { try shell.stat(path) }
        }
        #expect(throws: Errno.noSuchFileOrDirectory) { try shell.stat("access-groups/g/.keychainfs") }
        #expect(!(try shell.list("")).contains(".keychainfs"))
        #expect(try shell.stat(".keychainfs/control").type == .regular)
    }
}
