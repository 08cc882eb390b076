import FileSystemCore
import KeychainTesting
import SecretCrypto
import SystemPackage
import Testing

@testable import Keychain
@testable import KeychainTree

@Suite("L6: items of another device")
struct ForeignItemTests {
    private let here: TreeFixture
    private let process: TreeProcess

    private static let bound = [
        "WhenUnlockedThisDeviceOnly", "AfterFirstUnlockThisDeviceOnly", "AlwaysThisDeviceOnly",
        "WhenPasscodeSetThisDeviceOnly",
    ]

    /// A keychain that one device has filled, opened on another.
    init() throws {
        let there = try TreeFixture()
        let process = TreeProcess(there)
        try process.mkdir("generic-passwords/s")
        try process.mkdir("generic-passwords/bound")
        for protection in ["WhenUnlocked"] + Self.bound {
            try process.put("generic-passwords/s/\(protection)", "there")
            try process.setxattr("generic-passwords/s/\(protection)", "kSecAttrAccessible", protection)
        }
        try process.put("generic-passwords/bound/only", "there")
        try process.setxattr("generic-passwords/bound/only", "kSecAttrAccessible", Self.bound[0])
        here = try TreeFixture(copying: there.store.records)
        self.process = TreeProcess(here)
    }

    @Test("L6: a listing without them ends cleanly, also of a directory with nothing else")
    func listing() throws {
        #expect(try process.list("generic-passwords/s") == ["WhenUnlocked"])
        #expect(try process.list("generic-passwords/bound") == [])
        #expect(try process.cat("generic-passwords/s/WhenUnlocked") == "there")
    }

    @Test("L6: they are counted")
    func counted() throws {
        #expect(try here.keychain.foreignItemCount() == 5)
        #expect(try here.keychain.itemCount() == 6)
        #expect(!here.keychain.keys.isDeviceKnown)
        let report = try here.keychain.check()
        #expect(report.foreign == 5 && report.isConsistent && report.unavailable == 0)
    }

    @Test("L6: operations on their names fail with ENOKEY, including O_CREAT and rename")
    func byName() throws {
        for protection in Self.bound {
            let path = "generic-passwords/s/\(protection)"
            let entry = try process.entry(path)
            #expect(entry.entryTimeout == 0 && entry.attributeTimeout == 0, "nothing of it may be remembered")
            #expect(throws: Errno.noKey) {
                try process.ask { (request) throws(Errno) in
                    try here.tree.getattr(&request, node: entry.node, handle: nil)
                }
            }
            here.tree.forget(entry.node, count: 1)
            #expect(throws: Errno.noKey) { try process.open(path) }
            #expect(throws: Errno.noKey) { try process.open(path, [.writeOnly, .create, .truncate]) }
            #expect(throws: Errno.noKey) { try process.getxattr(path, "kSecAttrLabel") }
            #expect(throws: Errno.noKey) { try process.setxattr(path, "kSecAttrLabel", "x") }
            #expect(throws: Errno.noKey) { try process.setattr(path) { $0.size = 0 } }
            #expect(throws: Errno.noKey) { try process.rename(path, "generic-passwords/s/other") }
            #expect(throws: Errno.noKey) { try process.rename("generic-passwords/s/WhenUnlocked", path) }
            let (parent, name) = try process.parent(path)
            #expect(throws: Errno.noKey) {
                try process.ask { (request) throws(Errno) in
                    try here.tree.create(
                        &request, parent: parent, name: name, permissions: 0o600, flags: [.writeOnly, .create])
                }
            }
        }
        #expect(throws: Errno.noSuchFileOrDirectory) { try process.stat("generic-passwords/s/none") }
        #expect(throws: Errno.noKey) { try process.rmdir("generic-passwords/bound") }
        #expect(try here.keychain.foreignItemCount() == 5)
    }

    @Test("L1: a directory that holds one is not renamed, exchanged or taken for empty; another one is")
    func rename() throws {
        let bound = "generic-passwords/bound"
        #expect(throws: Errno.noKey) { try process.rename(bound, "generic-passwords/other") }
        try process.mkdir("generic-passwords/free")
        #expect(throws: Errno.noKey) { try process.rename("generic-passwords/free", bound, .exchange) }
        #expect(throws: Errno.noKey) { try process.rename(bound, "generic-passwords/free", .exchange) }
        try process.rename("generic-passwords/free", "generic-passwords/other")
        try process.unlink("\(bound)/only")
        try process.rename(bound, "generic-passwords/free")
    }

    @Test("L6: unlink deletes them, and the name is free again: for an item that is bound to this device")
    func unlink() throws {
        for protection in Self.bound {
            let path = "generic-passwords/s/\(protection)"
            try process.unlink(path)
            #expect(throws: Errno.noSuchFileOrDirectory) { try process.unlink(path) }
            try process.put(path, "here")
            try process.setxattr(path, "kSecAttrAccessible", protection)
            #expect(try process.cat(path) == "here")
        }
        #expect(try here.keychain.foreignItemCount() == 1)
        try process.unlink("generic-passwords/bound/only")
        try process.rmdir("generic-passwords/bound")
        // Back where they came from, those of this device are the foreign ones; but that device still knows itself.
        let back = TreeProcess(try TreeFixture(copying: here.store.records, device: 1))
        #expect(try back.list("generic-passwords/s") == ["WhenUnlocked"])
    }

    @Test("L6: while locked they still do not spoil a listing, and are deleted; what is merely locked is not")
    func whileLocked() throws {
        try process.put("generic-passwords/s/later", "x")
        try process.setxattr("generic-passwords/s/later", "kSecAttrAccessible", "AfterFirstUnlock")
        _ = here.tree.lock()
        #expect(throws: Errno.noKey) { try process.unlink("generic-passwords/s/WhenUnlocked") }
        #expect(throws: Errno.noKey) { try process.list("generic-passwords/s") }
        #expect(try process.list("generic-passwords/bound") == [])
        try process.unlink("generic-passwords/bound/only")
        #expect(try here.keychain.foreignItemCount() == 4)
    }
}
