import Foundation
import GRDB
import SecretCrypto
import Testing

@testable import Keychain
@testable import KeychainStorage

/// Malformed rows, as another program could write them to the file.
@Suite("damaged rows")
struct DamagedRowTests {
    private func keychain(in scratch: TemporaryDirectory) throws {
        let records = (try Samples.store(), try Samples.slot(1), try Samples.slot(2))
        let keys = [
            try Samples.classKey(.protection(.whenUnlocked), generation: 1),
            try Samples.classKey(.alwaysLookup, generation: 1),
        ]
        try SQLiteRecordStore.create(at: scratch.keychain) { store throws(KeychainFault) in
            try store.write { writer throws(KeychainFault) in
                try writer.put(records.0)
                for slot in [records.1, records.2] { try writer.put(slot) }
                for key in keys { try writer.put(key) }
                try writer.put(DeviceRecord(id: 1, tag: [UInt8](repeating: 1, count: 16)))
                try writer.put(UserKeyRecord(generation: 1, key: records.0.masterKeys))
            }
            return store
        }.close()
    }

    @Test(
        "S4: a damaged row of a key is left out; the others are read",
        arguments: [
            "UPDATE slot SET kind = 99 WHERE id = 1", "UPDATE slot SET user_key_seal = X'00' WHERE id = 1",
            "UPDATE class_key SET purpose = 99 WHERE purpose = 32",
            "UPDATE class_key SET wrapping = 7 WHERE purpose = 32",
            "UPDATE class_key SET keys_seal = zeroblob(41) WHERE purpose = 32", "UPDATE device SET tag = X'01'",
            "UPDATE device SET mark = -1", "UPDATE device SET mark_id = zeroblob(15)",
            "UPDATE user_key SET key_seal = X''",
        ])
    func keys(_ sql: String) throws {
        let scratch = try TemporaryDirectory()
        try keychain(in: scratch)
        let queue = try DatabaseQueue(path: scratch.keychain)
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
        let store = try SQLiteRecordStore.open(path: scratch.keychain)
        defer { store.close() }
        try store.read { reader throws(KeychainFault) in
            let counts = [
                try reader.slots().count, try reader.classKeys().count, try reader.devices().count,
                try reader.userKeys().count,
            ]
            #expect(counts.reduce(0, +) == 5, "\(sql): \(counts)")
        }
    }

    @Test(
        "S6: a tag, an identifier or a salt of another size is damage",
        arguments: [
            "UPDATE store SET identifier = X'00'", "UPDATE store SET salt = zeroblob(17)",
            "UPDATE store SET header_seal = X''",
        ])
    func store(_ sql: String) throws {
        let scratch = try TemporaryDirectory()
        try keychain(in: scratch)
        let queue = try DatabaseQueue(path: scratch.keychain)
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
        let store = try SQLiteRecordStore.open(path: scratch.keychain)
        defer { store.close() }
        #expect(throws: KeychainFault.decode) {
            try store.read { reader throws(KeychainFault) in try reader.store() }
        }
    }
}

/// Additions while the keys for them are damaged.
@Suite("S4, L1: damaged rows of class keys")
struct DamagedClassKeyTests {
    /// The edits of the record that the placeholder selects.
    static let edits = [
        "DELETE FROM class_key WHERE ROW", "UPDATE class_key SET purpose = 99 WHERE ROW",
        "UPDATE class_key SET generation = generation + 1 WHERE ROW",
        "UPDATE class_key SET generation = -1 WHERE ROW", "UPDATE class_key SET device = device + 5 WHERE ROW",
        "UPDATE class_key SET wrapping = 9 WHERE ROW",
        "UPDATE class_key SET user_key_generation = user_key_generation + 7 WHERE ROW",
        "UPDATE class_key SET keys_seal = zeroblob(40) WHERE ROW", "UPDATE class_key SET keys_seal = X'00' WHERE ROW",
        "UPDATE class_key SET keys = zeroblob(length(keys)) WHERE ROW", "UPDATE class_key SET keys = X'' WHERE ROW",
    ]

    @Test("damaged rows of class keys refuse the unlock; in an examination they are damage", arguments: edits)
    func newValues(_ edit: String) throws {
        for protection in ProtectionClass.allCases {
            let scratch = try TemporaryDirectory()
            let fixture = try SQLiteKeychainFixture(creating: scratch.keychain)
            _ = try fixture.add("old", protection)
            let directory = fixture.directory
            fixture.close()
            let queue = try DatabaseQueue(path: scratch.keychain)
            let row = "purpose = \(protection.rawValue)"
            try queue.write { try $0.execute(sql: edit.replacingOccurrences(of: "ROW", with: row)) }
            try queue.close()
            let comment = Comment(rawValue: "\(protection): \(edit)")
            #expect(throws: KeychainFault.decode, comment) {
                try SQLiteKeychainFixture(opening: scratch.keychain, directory: directory)
            }
            let examined = try SQLiteKeychainFixture(
                opening: scratch.keychain, directory: directory, access: .readOnly, isExamination: true)
            defer { examined.close() }
            #expect(Self.error { _ = try examined.contents("old") } == .decode, comment)
            let report = try examined.keychain.check()
            #expect(report.rowFault != nil && !report.damagedItems.isEmpty, comment)
        }
    }

    @Test("S3: a planted row of keys refuses the unlock; in an examination it makes nothing unreadable")
    func ownerless() throws {
        let scratch = try TemporaryDirectory()
        let fixture = try SQLiteKeychainFixture(creating: scratch.keychain)
        _ = try fixture.add("old", .whenUnlockedThisDeviceOnly)
        let directory = fixture.directory
        fixture.close()
        let queue = try DatabaseQueue(path: scratch.keychain)
        try queue.write { db in
            try db.execute(
                sql: """
                    INSERT INTO class_key SELECT purpose, generation + 1, device + 6, wrapping, user_key_generation, \
                    keys_seal, keys FROM class_key WHERE purpose = 9
                    """)
        }
        try queue.close()
        #expect(throws: KeychainFault.decode) {
            try SQLiteKeychainFixture(opening: scratch.keychain, directory: directory)
        }
        let examined = try SQLiteKeychainFixture(
            opening: scratch.keychain, directory: directory, access: .readOnly, isExamination: true)
        defer { examined.close() }
        #expect(try examined.contents("old") == Array("secret of old".utf8))
        #expect(throws: KeychainFault.decode) {
            try examined.ring.keys(for: .protection(.whenUnlockedThisDeviceOnly), generation: 2)
        }
        #expect(!examined.ring.isForeign(.whenUnlockedThisDeviceOnly, generation: 2))
    }

    @Test("before the first unlock an unavailable class is ENOKEY, even if its keys are missing")
    func beforeFirstUnlock() throws {
        let scratch = try TemporaryDirectory()
        try SQLiteKeychainFixture(creating: scratch.keychain).close()
        let queue = try DatabaseQueue(path: scratch.keychain)
        try queue.write { try $0.execute(sql: "DELETE FROM class_key WHERE purpose < 32") }
        try queue.close()
        let store = try SQLiteRecordStore.open(path: scratch.keychain)
        defer { store.close() }
        let ring = try KeyRing(store: store, device: SecretBytes(copying: [UInt8](repeating: 1, count: 32).rawSpan))
        let keychain = KeychainStore(store: store, keys: ring) { .sample }
        for protection in ProtectionClass.allCases where protection.availability != .always {
            #expect(throws: KeychainFault.interactionNotAllowed) { try keychain.checkCanAdd(protection) }
        }
    }

    private static func error(_ body: () throws -> Void) -> KeychainFault? {
        do {
            try body()
            return nil
        } catch {
            return error as? KeychainFault ?? .io(0)
        }
    }
}

@Suite("S4, L5: a rotation of a damaged store")
struct DamagedRotationTests {
    private let scratch: TemporaryDirectory
    private let directory: RowID

    init() throws {
        scratch = try TemporaryDirectory()
        let fixture = try SQLiteKeychainFixture(creating: scratch.keychain)
        for number in 0..<600 { try fixture.add("\(number)", [UInt8](repeating: 1, count: 100)) }
        directory = fixture.directory
        fixture.close()
    }

    private func secret(_ text: String) throws -> UnlockSecret {
        try UnlockSecret(passphrase: SecretBytes(copying: Array(text.utf8).rawSpan))
    }

    private func rotate(_ fixture: SQLiteKeychainFixture) throws {
        _ = try fixture.ring.changeSlot(
            1, to: secret("new"), authorizedBy: fixture.ring.root(of: secret("correct")))
    }

    @Test("L5: malformed rows do not prevent a change of slots, and stay reported")
    func malformedRows() throws {
        let queue = try DatabaseQueue(path: scratch.keychain)
        try queue.write { try $0.execute(sql: "UPDATE item SET metadata_seal = X'00' WHERE id % 50 = 7") }
        try queue.close()
        let damaged = try SQLiteKeychainFixture(opening: scratch.keychain, directory: directory)
        defer { damaged.close() }
        #expect(try damaged.keychain.verifyNow().rows == .rowsUnreadable)
        try rotate(damaged)
        #expect(try damaged.keychain.verifyNow().rows == .rowsUnreadable)
        let item = try #require(
            try damaged.keychain.item(named: CanonicalName(account: .string("0")), in: directory))
        _ = try damaged.keychain.change { (transaction) throws(KeychainFault) in
            try transaction.save(item, secret: StoredContents(bytes: [2]))
        }
        #expect(try damaged.contents("0") == [2])
    }

    @Test("L5: a page that cannot be read refuses a change of slots, and nothing is changed")
    func malformedPage() throws {
        let queue = try DatabaseQueue(path: scratch.keychain)
        let metadata = try queue.read { db in
            try #require(try Data.fetchOne(db, sql: "SELECT metadata FROM item WHERE id = 300"))
        }
        try queue.close()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: scratch.keychain))
        let page = try #require(bytes.range(of: metadata)).lowerBound / 4096 * 4096
        bytes.replaceSubrange(page..<page + 4096, with: Data(repeating: 0xEE, count: 4096))
        try bytes.write(to: URL(fileURLWithPath: scratch.keychain))
        let damaged = try SQLiteKeychainFixture(opening: scratch.keychain, directory: directory)
        defer { damaged.close() }
        #expect(throws: KeychainFault.decode) { try rotate(damaged) }
        try damaged.ring.verify(damaged.ring.root(of: secret("correct")))
        #expect(try damaged.contents("0") == [UInt8](repeating: 1, count: 100))
    }
}
