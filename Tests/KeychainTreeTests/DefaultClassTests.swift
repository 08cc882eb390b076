import FileSystemCore
import Keychain
import SystemPackage
import Testing

@testable import KeychainTree

/// X5, section 4: the default class of the keychain, of its class directories and of its services.
@Suite struct DefaultClassTests {
    private let fixture: TreeFixture
    private let shell: TreeProcess
    private let key = "kSecAttrAccessible"
    private let classes = [
        "generic-passwords", "internet-passwords", "synchronizable/generic-passwords",
        "synchronizable/internet-passwords",
    ]

    init() throws {
        fixture = try TreeFixture()
        shell = TreeProcess(fixture)
    }

    @Test("X5: a class directory's default is that of the services made in it, and of no other")
    func ofClass() throws {
        try shell.mkdir("generic-passwords/before")
        #expect(try shell.getxattr("generic-passwords", key) == "WhenUnlocked")
        #expect(try shell.listxattr("generic-passwords").isEmpty)
        try shell.setxattr("generic-passwords", key, "AfterFirstUnlock")
        #expect(try shell.getxattr("generic-passwords", key) == "AfterFirstUnlock")
        #expect(try shell.listxattr("generic-passwords") == [key])
        try shell.mkdir("generic-passwords/after")
        try shell.mkdir("internet-passwords/other")
        try shell.put("generic-passwords/after/a", "x")
        #expect(try shell.getxattr("generic-passwords/after/a", key) == "AfterFirstUnlock")
        #expect(try shell.getxattr("generic-passwords/before", key) == "WhenUnlocked")
        #expect(try shell.getxattr("internet-passwords/other", key) == "WhenUnlocked")
        try shell.removexattr("generic-passwords", key)
        #expect(throws: Errno.noAttribute) { try shell.removexattr("generic-passwords", key) }
        try shell.mkdir("generic-passwords/last")
        #expect(try shell.getxattr("generic-passwords/last", key) == "WhenUnlocked")
    }

    @Test("X5: the root's default is that of all classes, in the groups that there are and in later ones")
    func ofKeychain() throws {
        try shell.mkdir("access-groups/old")
        try shell.mkdir("access-groups/old/generic-passwords/s")
        #expect(try shell.getxattr("", key) == "WhenUnlocked" && shell.listxattr("").isEmpty)
        #expect(try fixture.commits { try shell.setxattr("", key, "AfterFirstUnlock") } == 1)
        #expect(try shell.getxattr("", key) == "AfterFirstUnlock" && shell.listxattr("") == [key])
        try shell.mkdir("access-groups/new")
        for directory in classes + ["access-groups/old/generic-passwords", "access-groups/new/internet-passwords"] {
            try shell.mkdir(directory + "/made")
            #expect(try shell.getxattr(directory + "/made", key) == "AfterFirstUnlock", "\(directory)")
        }
        #expect(try shell.getxattr("access-groups/old/generic-passwords/s", key) == "WhenUnlocked")
        try shell.setxattr("internet-passwords", key, "Always")
        #expect(throws: Errno.noAttribute) { try shell.getxattr("", key) }
        #expect(try shell.listxattr("").isEmpty)
        try shell.removexattr("", key)
        #expect(try shell.getxattr("", key) == "WhenUnlocked")
    }

    @Test("X5: a service that has another default than its class lists it, and goes back to that of its class")
    func listed() throws {
        try shell.setxattr("", key, "AfterFirstUnlock")
        try shell.mkdir("generic-passwords/s")
        #expect(try shell.listxattr("generic-passwords/s") == [key])
        try shell.setxattr("generic-passwords/s", key, "WhenUnlocked")
        #expect(try shell.listxattr("generic-passwords/s") == [key])
        try shell.removexattr("generic-passwords/s", key)
        #expect(try shell.getxattr("generic-passwords/s", key) == "AfterFirstUnlock")
    }

    @Test("X5, X3: nothing else can be set, and nothing on folders in between")
    func refused() throws {
        for folder in ["", "generic-passwords"] {
            #expect(throws: Errno.operationNotSupported) { try shell.setxattr(folder, "kSecAttrLabel", "x") }
            #expect(throws: Errno.operationNotSupported) { try shell.setxattr(folder, "color", "x") }
            #expect(throws: Errno.invalidArgument) { try shell.setxattr(folder, key, "Never") }
            #expect(throws: Errno.noAttribute) { try shell.getxattr(folder, "kSecAttrLabel") }
        }
        for folder in ["synchronizable", "access-groups"] {
            #expect(throws: Errno.operationNotSupported) { try shell.setxattr(folder, key, "Always") }
            #expect(throws: Errno.noAttribute) { try shell.getxattr(folder, key) }
        }
        #expect(fixture.keychain.commitCount == 0)
    }

    @Test(
        "L1: no default class changes while locked, even to an available class; setting the current one has no effect")
    func whileLocked() throws {
        try shell.mkdir("generic-passwords/s")
        _ = fixture.tree.lock()
        for path in ["", "generic-passwords", "generic-passwords/s"] {
            for protection in ["Always", "AfterFirstUnlock", "WhenUnlockedThisDeviceOnly"] {
                #expect(throws: Errno.noKey) { try shell.setxattr(path, key, protection) }
            }
            #expect(try shell.getxattr(path, key) == "WhenUnlocked")
        }
        try shell.setxattr("generic-passwords/s", key, "WhenUnlocked")
        try fixture.tree.unlock(passphrase: try TreeFixture.secret())
        try shell.setxattr("generic-passwords/s", key, "Always")
        _ = fixture.tree.lock()
        #expect(throws: Errno.noKey) { try shell.removexattr("generic-passwords/s", key) }
        // An item created in between has the earlier default.
        try shell.mkdir("generic-passwords/t")
        #expect(throws: Errno.noKey) { try shell.put("generic-passwords/t/a", "x") }
    }

    @Test("L1, X5: no name gets another default class while locked, even by a directory that is moved to it")
    func renamedWhileLocked() throws {
        for name in ["plain", "other", "open"] { try shell.mkdir("generic-passwords/" + name) }
        try shell.setxattr("generic-passwords/open", key, "Always")
        _ = fixture.tree.lock()
        for target in ["other", "new"] {
            #expect(throws: Errno.noKey) { try shell.rename("generic-passwords/open", "generic-passwords/" + target) }
        }
        for (from, to) in [("open", "other"), ("other", "open")] {
            #expect(throws: Errno.noKey) {
                try shell.rename("generic-passwords/" + from, "generic-passwords/" + to, .exchange)
            }
        }
        #expect(try shell.getxattr("generic-passwords/other", key) == "WhenUnlocked")
        try shell.rename("generic-passwords/plain", "generic-passwords/other")
        try fixture.tree.unlock(passphrase: try TreeFixture.secret())
        try shell.rename("generic-passwords/open", "generic-passwords/other")
        #expect(try shell.getxattr("generic-passwords/other", key) == "Always")
    }
}
