import FileSystemCore
import Keychain
import SecretCrypto
import SystemPackage
import Testing

@testable import KeychainTree

/// X5: the attributes of service directories.
@Suite struct DirectoryXattrTests: SingleServiceSuite {
    private let fixture: TreeFixture
    private let shell: TreeProcess

    init() throws {
        fixture = try TreeFixture()
        shell = TreeProcess(fixture)
        try shell.mkdir(dir)
    }

    @Test("X5: a service directory returns the attributes that its name represents, and lists none of them")
    func carried() throws {
        let internet = "synchronizable/internet-passwords/h,protocol=https,port=8443,path=%2Fp,domain=d,auth=httpbasic"
        try shell.mkdir(internet)
        let wanted = [
            "kSecClass": "InternetPassword", "kSecAttrServer": "h", "kSecAttrProtocol": "HTTPS",
            "kSecAttrPort": "8443", "kSecAttrPath": "/p", "kSecAttrSecurityDomain": "d",
            "kSecAttrAuthenticationType": "HTTPBasic", "kSecAttrAccessGroup": "default",
            "kSecAttrSynchronizable": "1", "kSecAttrAccessible": "WhenUnlocked",
        ]
        for (key, value) in wanted {
            #expect(try shell.getxattr(internet, key) == value)
            guard key != "kSecClass" else { continue }
            try shell.setxattr(internet, key, value)
        }
        #expect(try shell.getxattr(dir, "kSecAttrService") == "s")
        #expect(try shell.listxattr(internet).isEmpty && shell.listxattr(dir).isEmpty)
        for key in ["kSecAttrAccount", "kSecAttrLabel", "kSecAttrServer", "kSecAttrCreationDate", "color"] {
            #expect(throws: Errno.noAttribute) { try shell.getxattr(dir, key) }
            #expect(throws: Errno.noAttribute) { try shell.removexattr(dir, key) }
        }
    }

    @Test(
        "X5: nothing but the default class can be set",
        arguments: [
            ("kSecAttrService", "t", Errno.notPermitted), ("kSecAttrAccessGroup", "g", .notPermitted),
            ("kSecAttrSynchronizable", "1", .notPermitted), ("kSecClass", "genp", .notPermitted),
            ("kSecAttrLabel", "x", .operationNotSupported), ("kSecAttrAccount", "x", .operationNotSupported),
            ("kSecAttrModificationDate", "x", .operationNotSupported),
            ("kSecAttrServer", "x", .operationNotSupported), ("color", "x", .operationNotSupported),
            ("kSecAttrAccessible", "Never", .invalidArgument),
        ])
    func refused(key: String, value: String, errno: Errno) throws {
        #expect(throws: errno) { try shell.setxattr(dir, key, value) }
        #expect(throws: Errno.operationNotSupported) {
            let node = try shell.entry(dir).node
            try shell.ask { (request) throws(Errno) in
                _ = try shell.tree.getxattr(&request, node: node, name: Array("security.x".utf8))
            }
        }
    }

    @Test("X5, X3: an attribute that the name represents can be set to its value, and not removed")
    func sameValue() throws {
        #expect(try fixture.commits { try shell.setxattr(dir, "kSecAttrService", "s") } == 0)
        #expect(throws: Errno.notPermitted) { try shell.removexattr(dir, "kSecAttrService") }
    }

    @Test(
        "X5, X1: the default class applies to new items; it is listed unless it is WhenUnlocked; removing it resets it")
    func defaultClass() throws {
        try shell.put(dir + "/old", "x")
        try shell.setxattr(dir, "kSecAttrAccessible", "kSecAttrAccessibleAfterFirstUnlock")
        #expect(try shell.getxattr(dir, "kSecAttrAccessible") == "AfterFirstUnlock")
        #expect(try shell.listxattr(dir) == ["kSecAttrAccessible"])
        try shell.put(dir + "/new", "x")
        #expect(try shell.getxattr(dir + "/new", "kSecAttrAccessible") == "AfterFirstUnlock")
        #expect(try shell.getxattr(dir + "/old", "kSecAttrAccessible") == "WhenUnlocked")
        // Only a WhenUnlocked where the default is WhenUnlocked too is not listed.
        #expect(try shell.listxattr(dir + "/new") == ["kSecAttrAccessible"])
        #expect(try shell.listxattr(dir + "/old") == ["kSecAttrAccessible"])
        try shell.removexattr(dir + "/old", "kSecAttrAccessible")
        #expect(try shell.getxattr(dir + "/old", "kSecAttrAccessible") == "AfterFirstUnlock")
        try shell.removexattr(dir, "kSecAttrAccessible")
        #expect(throws: Errno.noAttribute) { try shell.removexattr(dir, "kSecAttrAccessible") }
        #expect(try shell.getxattr(dir, "kSecAttrAccessible") == "WhenUnlocked")
        #expect(try shell.listxattr(dir + "/new") == ["kSecAttrAccessible"])
        try shell.removexattr(dir + "/new", "kSecAttrAccessible")
        #expect(try shell.getxattr(dir + "/new", "kSecAttrAccessible") == "WhenUnlocked")
        #expect(try shell.listxattr(dir + "/new").isEmpty && shell.listxattr(dir).isEmpty)
        let again = TreeProcess(try TreeFixture(mounting: fixture))
        try shell.setxattr(dir, "kSecAttrAccessible", "ck")
        #expect(try again.getxattr(dir, "kSecAttrAccessible") == "AfterFirstUnlock")
    }

    @Test("X5, L1: while locked, items are created if the default class allows it")
    func locked() throws {
        try shell.mkdir("generic-passwords/later")
        try shell.setxattr(dir, "kSecAttrAccessible", "AfterFirstUnlock")
        let early = try shell.open(dir + "/early", [.writeOnly, .create])
        try shell.write(early, "staged under the key of its own class")
        _ = fixture.tree.lock()
        try shell.write(early, "STAGED")
        try shell.close(early)
        try shell.put(dir + "/a", "x")
        #expect(try shell.cat(dir + "/a") == "x" && shell.cat(dir + "/early").hasPrefix("STAGED under"))
        #expect(throws: Errno.noKey) { try shell.put("generic-passwords/later/a", "x") }
    }

    @Test("F5, X5: an Accessible that is the directory's default is not the source's own")
    func renamedOver() throws {
        try shell.put(dir + "/target", "old")
        try shell.setxattr(dir + "/target", "kSecAttrLabel", "L")
        try shell.setxattr(dir, "kSecAttrAccessible", "AfterFirstUnlock")
        try shell.put(dir + "/source", "new")
        try shell.rename(dir + "/source", dir + "/target")
        #expect(try shell.getxattr(dir + "/target", "kSecAttrLabel") == "L")
        #expect(try shell.getxattr(dir + "/target", "kSecAttrAccessible") == "WhenUnlocked")
    }
}
