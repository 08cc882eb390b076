import FileSystemCore
import KeychainTesting
import SystemPackage
import Testing

@testable import Keychain
@testable import KeychainTree

/// L3: a change of the protection class changes the key of the row and of open files.
@Suite struct ClassChangeTests {
    private let fixture: TreeFixture
    private let shell: TreeProcess
    private let path = "generic-passwords/s/a"
    private let value = String(repeating: "secret ", count: 500)

    init() throws {
        fixture = try TreeFixture()
        shell = TreeProcess(fixture)
        try shell.mkdir("generic-passwords/s")
        try shell.put(path, value)
        try shell.setxattr(path, "kSecAttrLabel", "L")
    }

    private func row() throws -> (record: ItemRecord, secret: [UInt8]) {
        let id = RowID(rawValue: Int64(try shell.stat(path).inode.rawValue))
        let records = fixture.store.records
        return (try #require(records.itemRecords[id]), try #require(records.secrets[id]))
    }

    private func set(_ protection: ProtectionClass) throws {
        try shell.setxattr(path, "kSecAttrAccessible", protection.suffix)
    }

    @Test(
        "L3: a change from each protection class to each other seals metadata and secret again, in one commit, and both open"
    )
    func everyChange() throws {
        for (from, to) in ProtectionClass.allCases.flatMap({ from in ProtectionClass.allCases.map { (from, $0) } })
        where from != to {
            try set(from)
            let before = try row()
            #expect(try fixture.commits { try set(to) } == 1)
            let after = try row()
            #expect(before.record.protection == from && after.record.protection == to)
            #expect(after.record.metadata != before.record.metadata)
            #expect(
                after.record.secretSeals != before.record.secretSeals && after.secret != before.secret)
            #expect((after.record.alwaysTag != nil) == (to.availability == .always))
            #expect(after.record.ephemeral == nil && after.record.version > before.record.version)
            #expect(try shell.cat(path) == value && shell.getxattr(path, "kSecAttrLabel") == "L")
            #expect(try shell.getxattr(path, "kSecAttrAccessible") == to.suffix)
        }
    }

    @Test("L2: a write in progress continues after a lock if its item gets a class that stays available")
    func stagedValue() throws {
        let newPath = "generic-passwords/s/new"
        for name in [path, newPath] {
            let file = try shell.open(name, [.writeOnly, .create])
            try shell.write(file, "before ")
            try shell.setxattr(name, "kSecAttrAccessible", "AfterFirstUnlock")
            _ = shell.tree.lock()
            try shell.write(file, "after", at: 7)
            try shell.close(file)
            #expect(try shell.cat(name).hasPrefix("before after"))
            try shell.tree.unlock(passphrase: try TreeFixture.secret())
        }
    }

    @Test("L3: setting the current class changes nothing, under any of its names")
    func sameClass() throws {
        let before = try row()
        for name in ["WhenUnlocked", "kSecAttrAccessibleWhenUnlocked", "ak", "NSFileProtectionComplete", "Complete"] {
            #expect(try fixture.commits { try shell.setxattr(path, "kSecAttrAccessible", name) } == 0)
        }
        #expect(try row().record == before.record)
    }

    @Test("L2, L3: a descriptor from before a change to a class that locks is closed by the lock too, and stays so")
    func openBeforeStricterClass() throws {
        try set(.afterFirstUnlock)
        let reader = try shell.open(path)
        let writer = try shell.open(path, [.readWrite])
        try shell.put("generic-passwords/s/other", "x")
        try shell.setxattr("generic-passwords/s/other", "kSecAttrAccessible", "AfterFirstUnlock")
        let other = try shell.open("generic-passwords/s/other")
        try set(.whenUnlocked)
        #expect(try shell.read(reader) == Array(value.utf8))
        _ = fixture.tree.lock()
        #expect(throws: Errno.noKey) { try shell.read(reader) }
        #expect(throws: Errno.noKey) { try shell.read(reader, at: value.utf8.count) }
        #expect(throws: Errno.noKey) { try shell.read(writer) }
        #expect(try shell.read(other) == Array("x".utf8))
        try fixture.tree.unlock(passphrase: try TreeFixture.secret())
        #expect(throws: Errno.noKey) { try shell.read(reader) }
        #expect(try shell.read(try shell.open(path)) == Array(value.utf8))
    }

    @Test(
        "L2, L3: after a change to an available class, new opens survive a lock; staged data follow at their commit"
    )
    func openAfterWeakerClass() throws {
        let writer = try shell.open(path, [.readWrite])
        try shell.write(writer, "SECRET")
        try set(.afterFirstUnlock)
        let reader = try shell.open(path)
        try shell.fsync(writer)
        _ = fixture.tree.lock()
        #expect(try shell.read(reader) == Array(value.utf8), "F3: the value of its open")
        try shell.write(writer, "again!")
        try shell.close(writer)
        #expect(try shell.cat(path).hasPrefix("again! secret"))
    }

    @Test("L1, L3: while locked a class whose keys are away can neither be left nor taken, others can")
    func whileLocked() throws {
        try set(.afterFirstUnlock)
        try shell.put("generic-passwords/s/locked", "x")
        _ = fixture.tree.lock()
        for to in [ProtectionClass.whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly] {
            #expect(throws: Errno.noKey) { try set(to) }
        }
        #expect(throws: Errno.noKey) {
            try shell.setxattr("generic-passwords/s/locked", "kSecAttrAccessible", "AfterFirstUnlock")
        }
        try set(.always)
        #expect(try shell.getxattr(path, "kSecAttrAccessible") == "Always" && shell.cat(path) == value)
        try set(.afterFirstUnlockThisDeviceOnly)
        try set(.whenUnlockedUnlessOpen)
        #expect(throws: Errno.noKey) { try shell.cat(path) }
        try fixture.tree.unlock(passphrase: try TreeFixture.secret())
        #expect(try shell.cat(path) == value && shell.getxattr(path, "kSecAttrLabel") == "L")
    }
}
