import Foundation
import GRDB
import Glibc
import KeychainClient
import KeychainFile
import SecretCrypto
import Security
import Testing

/// A keychain file opened in this process. The device key is that of the user who runs the tests, in a temporary
/// directory.
@Suite(.serialized) struct OpenKeychainTests {
    private let directory: String

    init() throws {
        directory = NSTemporaryDirectory() + "open-keychain-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        setenv("XDG_STATE_HOME", directory + "/state", 1)
    }

    private var path: String { directory + "/new/app.keychain" }

    private func error<Result: ~Copyable>(_ body: () throws(KeychainFileError) -> Result) -> KeychainFileError? {
        do throws(KeychainFileError) { _ = try body() } catch { return error }
        return nil
    }

    private func create() throws -> OpenKeychain {
        try Keychain.create(path, passphrase: Secret("correct"), cost: .test, accessGroups: ["team.app"])
    }

    private func open(_ passphrase: String) throws(KeychainFileError) -> OpenKeychain {
        guard let secret = try? Secret(passphrase) else { throw .outOfMemory }
        return try Keychain.open(path, unlockingWith: .passphrase(secret), accessGroups: ["team.app"])
    }

    @Test("Items written to a new keychain exist when it is opened again")
    func persists() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let made = try create()
        #expect(made.isUnlocked)
        try made.keychain.setPassword(Secret("kept"), service: "s", account: "a")
        let keychain = made.keychain
        made.close()
        #expect(throws: KeychainError.notAvailable) { _ = try keychain.password(service: "s", account: "a").count }
        let again = try open("correct")
        #expect(try again.keychain.password(service: "s", account: "a").text() == "kept")
        again.close()
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test(
        "A file that is open elsewhere, a wrong passphrase, a file that others may write and no keychain: each its own error"
    )
    func refused() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        #expect(error { () throws(KeychainFileError) in try open("correct") } == .notFound)
        let made = try create()
        #expect(error { () throws(KeychainFileError) in try open("correct") } == .inUse(process: getpid()))
        #expect(throws: KeychainFileError.exists) { try create() }
        made.close()
        #expect(error { () throws(KeychainFileError) in try open("wrong") } == .wrongSecret)
        let after = try open("correct")
        after.close()
        try Data("no keychain".utf8).write(to: URL(fileURLWithPath: directory + "/text"))
        #expect(error { () throws(KeychainFileError) in try Keychain.open(directory + "/text") } == .notAKeychain)
        try FileManager.default.setAttributes([.posixPermissions: 0o602], ofItemAtPath: path)
        #expect(error { () throws(KeychainFileError) in try open("correct") } == .othersMayWrite)
        #expect(KeychainFileError.inUse(process: 12).description == "The keychain is in use by process 12.")
    }

    /// Removes the entries of every item from an index without a key, as an attacker does.
    private func emptyIndex(_ name: String) throws {
        func perform(_ body: (Database) throws -> Void) throws {
            let queue = try DatabaseQueue(path: path)
            try queue.writeWithoutTransaction(body)
            try queue.close()
        }
        func setCondition(_ condition: String) throws {
            try perform { db in
                try db.execute(sql: "PRAGMA writable_schema = ON")
                try db.execute(
                    sql:
                        "UPDATE sqlite_schema SET sql = 'CREATE UNIQUE INDEX item_tag ON item (tag)' || ? WHERE name = ?",
                    arguments: [condition, name])
            }
        }
        try setCondition(" WHERE id < 0")
        try perform { try $0.execute(sql: "REINDEX") }
        try setCondition("")
        try perform { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
    }

    @Test("S2: an item that an index misses is found again before a second item of its name can be added")
    func missedByIndex() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let made = try create()
        try made.keychain.setPassword(Secret("old"), service: "s", account: "a")
        made.close()
        try emptyIndex("item_tag")
        let opened = try open("correct")
        try opened.keychain.setPassword(Secret("new"), service: "s", account: "a")
        #expect(try opened.keychain.password(service: "s", account: "a").text() == "new")
        opened.close()
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        let counts = try queue.read { db in
            try ["item NOT INDEXED", "item INDEXED BY item_tag WHERE tag > x''"].map {
                try Int.fetchOne(db, sql: "SELECT count(tag) FROM \($0)")
            }
        }
        #expect(counts == [1, 1])
    }

    /// Creates the files of a process that was killed while the keychain was open: its last commits are only in the
    /// log.
    private func crash() throws -> String {
        let opened = try create()
        try opened.keychain.setPassword(Secret("old"), service: "s", account: "a")
        let crashed = directory + "/crashed/app.keychain"
        try FileManager.default.createDirectory(atPath: directory + "/crashed", withIntermediateDirectories: false)
        for end in ["", "-wal"] { try FileManager.default.copyItem(atPath: path + end, toPath: crashed + end) }
        opened.close()
        return crashed
    }

    @Test(
        "A rollback journal, or the log of an earlier state, next to the keychain is refused by name and changes nothing"
    )
    func neighbors() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let log = try crash() + "-wal"
        let newer = try open("correct")
        try newer.keychain.setPassword(Secret("newer"), service: "s", account: "a")
        newer.close()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        for suffix in ["-wal", "-journal"] {
            try FileManager.default.copyItem(atPath: log, toPath: path + suffix)
            #expect(
                error { () throws(KeychainFileError) in try open("correct") } == .foreignFile(path: path + suffix))
            try FileManager.default.removeItem(atPath: path + suffix)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
        let again = try open("correct")
        #expect(try again.keychain.password(service: "s", account: "a").text() == "newer")
        again.close()
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory + "/crashed").sorted()
    }

    @Test("S1: An interrupted restore is undone, and its unfinished file is removed", arguments: 0...4)
    func interruptedRestore(step: Int) throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let manager = FileManager.default
        let crashed = try crash()
        let kept = crashed + ".replaced-20261121T054408Z"
        // Its steps: a second name of the file, one of its log, the log's first name goes; the fourth: seen through a link.
        if step > 0 { try manager.linkItem(atPath: crashed, toPath: kept) }
        if step > 1 { try manager.linkItem(atPath: crashed + "-wal", toPath: kept + "-wal") }
        if step > 2 { try manager.removeItem(atPath: crashed + "-wal") }
        for end in ["", "-wal"] {
            try Data("half".utf8).write(to: URL(fileURLWithPath: directory + "/crashed/.keychainfs-new-1" + end))
        }
        let link = directory + "/link"
        try manager.createSymbolicLink(atPath: link, withDestinationPath: crashed)
        let opened = try Keychain.open(
            step == 4 ? link : crashed, unlockingWith: .passphrase(Secret("correct")), accessGroups: ["team.app"])
        #expect(try opened.keychain.password(service: "s", account: "a").text() == "old")
        opened.close()
        #expect(try names() == ["app.keychain"])
    }

    @Test("S1: A temporary file that another process is writing is left alone")
    func draftsInUse() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let crashed = try crash()
        let draft = directory + "/crashed/.keychainfs-new-2"
        let file = Glibc.open(draft, O_RDWR | O_CREAT, 0o600)
        defer { Glibc.close(file) }
        #expect(flock(file, LOCK_SH) == 0)
        try Keychain.open(crashed, unlockingWith: .passphrase(Secret("correct")), accessGroups: ["team.app"]).close()
        #expect(try names() == [".keychainfs-new-2", "app.keychain"])
    }

    @Test("Locked, unlocked, and opened without an unlock")
    func locking() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let opened = try create()
        defer { opened.close() }
        let keychain = opened.keychain
        try keychain.setPassword(Secret("x"), service: "s", account: "a")
        opened.lock()
        #expect(!opened.isUnlocked)
        #expect(throws: KeychainError.locked) { _ = try keychain.password(service: "s", account: "a").count }
        #expect(throws: KeychainFileError.wrongSecret) { try opened.unlock(with: .passphrase(Secret("no"))) }
        #expect(throws: KeychainFileError.badSecret) { try opened.unlock(with: .recoveryKey(Secret("no"))) }
        #expect(throws: KeychainFileError.badSecret) {
            _ = try Keychain.create(path + ".other", passphrase: Secret(""), cost: .test).isUnlocked
        }
        #expect(throws: KeychainFileError.badSecret) { try opened.unlock(with: .keyFile(Secret("short"))) }
        try opened.unlock(with: .passphrase(Secret("correct")))
        #expect(try keychain.password(service: "s", account: "a").text() == "x")
        opened.close()
        let locked = try Keychain.open(path)
        #expect(!locked.isUnlocked)
        locked.close()
    }

    @Test("It stays open as long as its keychain is in use, and no longer")
    func retained() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        do {
            let keychain = try create().keychain
            try keychain.setPassword(Secret("x"), service: "s", account: "a")
            #expect(try keychain.password(service: "s", account: "a").text() == "x")
        }
        try open("correct").close()
    }

    @Test("The SecItem functions use the keychain after useForKeychainServices")
    func keychainServices() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let opened = try create()
        defer { opened.close() }
        opened.useForKeychainServices()
        defer { OpenKeychain.useMountForKeychainServices() }
        let item: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "s",
            kSecAttrAccount as String: "a", kSecValueData as String: Data("by SecItemAdd".utf8),
        ]
        #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
        #expect(try opened.keychain.password(service: "s", account: "a").text() == "by SecItemAdd")
        #expect(try opened.keychain.item(.generic(service: "s", account: "a")).key?.accessGroup == "team.app")
        OpenKeychain.useMountForKeychainServices()
        setenv("KEYCHAINFS_MOUNT", directory + "/nothing", 1)
        defer { unsetenv("KEYCHAINFS_MOUNT") }
        #expect(SecItemDelete(item as CFDictionary) == errSecNotAvailable)
    }
}
