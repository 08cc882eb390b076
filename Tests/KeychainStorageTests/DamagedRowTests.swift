import Foundation
import GRDB
import Keychain
import Testing

@testable import KeychainStorage

/// Rows that are not of the form of one, as somebody leaves them who writes to the file.
@Suite("damaged rows")
struct DamagedRowTests {
    private func keychain(in scratch: Scratch) throws {
        let records = (try Samples.store(), try Samples.slot(1), try Samples.slot(2))
        let keys = [
            try Samples.classKey(.protection(.whenUnlocked), generation: 1),
            try Samples.classKey(.alwaysLookup, generation: 1),
        ]
        try SQLiteRecordStore.create(at: scratch.keychain) { store throws(KeychainError) in
            try store.write { writer throws(KeychainError) in
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
            "UPDATE user_key SET seal = X''",
        ])
    func keys(_ sql: String) throws {
        let scratch = try Scratch()
        try keychain(in: scratch)
        let queue = try DatabaseQueue(path: scratch.keychain)
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
        let store = try SQLiteRecordStore.open(path: scratch.keychain)
        defer { store.close() }
        try store.read { reader throws(KeychainError) in
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
        let scratch = try Scratch()
        try keychain(in: scratch)
        let queue = try DatabaseQueue(path: scratch.keychain)
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
        let store = try SQLiteRecordStore.open(path: scratch.keychain)
        defer { store.close() }
        #expect(throws: KeychainError.decode) {
            try store.read { reader throws(KeychainError) in try reader.store() }
        }
    }
}
