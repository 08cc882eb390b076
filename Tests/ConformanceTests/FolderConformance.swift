import FileSystemCore
import FileSystemTesting
import Keychain
import KeychainTree
import SystemPackage
import Testing

extension ConformanceTests {
    private static let group = "/access-groups/team"
    private static let service = "/access-groups/team/synchronizable/generic-passwords/s"

    @Test("T1, T4, T5: access groups and synchronizable items", arguments: BackEnd.available)
    func groups(_ backEnd: BackEnd) throws {
        try backEnd.run { client, _ in
            #expect(
                client.errno { client throws(Errno) in try client.mkdir("/access-groups/default") } == .invalidArgument)
            try client.mkdir(Self.group)
            #expect(try client.list("/access-groups") == ["team"])
            let folders = ["generic-passwords", "internet-passwords", "synchronizable"]
            #expect(try client.list(Self.group) == folders)
            #expect(try client.list(Self.group + "/synchronizable") == Array(folders.dropLast()))
            #expect(client.errno { client throws(Errno) in try client.mkdir(Self.group + "/x") } == .notPermitted)
            #expect(client.errno { client throws(Errno) in try client.put(Self.group + "/x", "") } == .notPermitted)
            #expect(client.errno { client throws(Errno) in try client.rmdir("/synchronizable") } == .notPermitted)
            #expect(client.errno { client throws(Errno) in try client.unlink(Self.group) } == .isDirectory)
            try client.mkdir(Self.service)
            try client.put(Self.service + "/a", "x")
            #expect(try client.getxattr(Self.service + "/a", "user.kSecAttrAccessGroup") == Array("team".utf8))
            #expect(try client.getxattr(Self.service + "/a", "user.kSecAttrSynchronizable") == Array("1".utf8))
            #expect(client.errno { client throws(Errno) in try client.rmdir(Self.group) } == .directoryNotEmpty)
            try client.unlink(Self.service + "/a")
            try client.rmdir(Self.service)
            try client.rmdir(Self.group)
            #expect(!client.exists(Self.group))
        }
    }

    @Test("T4, F5, X3: moves between groups, by rename and by attribute; a renamed group", arguments: BackEnd.available)
    func groupMoves(_ backEnd: BackEnd) throws {
        try backEnd.run { client, fixture in
            try client.mkdir(Self.group)
            try client.mkdir(Self.service)
            let names = (0..<30).map { "n\($0)" }
            for name in names { try client.put("/generic-passwords/s/" + name, name) }
            let inode = try client.stat("/generic-passwords/s/n1").inode
            try client.rmdir(Self.service)
            #expect(try fixture.commits { try client.rename("/generic-passwords/s", Self.service) } == 1)
            #expect(!client.exists("/generic-passwords/s"))
            #expect(try client.list(Self.service) == names)
            #expect(try client.stat(Self.service + "/n1").inode == inode)
            #expect(try fixture.commits { try client.rename(Self.group, "/access-groups/other") } == 1)
            #expect(!client.exists(Self.service))
            let moved = "/access-groups/other/synchronizable/generic-passwords/s/"
            #expect(try client.text(moved + "n3") == "n3")
            #expect(try client.getxattr(moved + "n3", "user.kSecAttrAccessGroup") == Array("other".utf8))
            let open = try client.open(moved + "n3", [.readWrite])
            try client.setxattr(moved + "n3", "user.kSecAttrAccessGroup", "default")
            let synchronizable = "/synchronizable/generic-passwords/s/n3"
            #expect(backEnd.soon { client.exists(synchronizable) })
            try client.setxattr(synchronizable, "user.kSecAttrSynchronizable", "0")
            #expect(backEnd.soon { !client.exists(synchronizable) && !client.exists(moved + "n3") })
            #expect(backEnd.soon { client.exists("/generic-passwords/s/n3") })
            try client.pwrite(open, Array("m".utf8), at: 0)
            try client.close(open)
            #expect(try client.text("/generic-passwords/s/n3") == "m3")
            try client.rename(moved + "n4", "/generic-passwords/s/n4")
            #expect(try client.list("/generic-passwords/s").sorted() == ["n3", "n4"])
        }
    }

    @Test(
        "X5: a service directory shows the attributes that its name represents, and has a class for new items",
        arguments: BackEnd.available)
    func directoryAttributes(_ backEnd: BackEnd) throws {
        try backEnd.run { client, _ in
            let dir = Fixture.directory
            let name = "user.kSecAttrAccessible"
            #expect(try client.listxattr(dir).isEmpty)
            #expect(try client.getxattr(dir, "user.kSecAttrService") == Array("s".utf8))
            #expect(try client.getxattr(dir, name) == Array("WhenUnlocked".utf8))
            try client.setxattr(dir, name, "AfterFirstUnlock")
            #expect(try client.listxattr(dir) == [name])
            try client.put(dir + "/a", "x")
            #expect(try client.getxattr(dir + "/a", name) == Array("AfterFirstUnlock".utf8))
            #expect(
                client.errno { client throws(Errno) in try client.setxattr(dir, "user.x", "x") }
                    == .operationNotSupported)
            #expect(
                client.errno { client throws(Errno) in try client.setxattr(dir, "user.kSecAttrService", "t") }
                    == .notPermitted)
            try client.removexattr(dir, name)
            #expect(client.errno { client throws(Errno) in try client.removexattr(dir, name) } == .noAttribute)
            #expect(
                client.errno { client throws(Errno) in _ = try client.getxattr(dir, "security.x") }
                    == .operationNotSupported)
        }
    }
}
