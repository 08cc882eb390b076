import Foundation
import Keychain
import Testing

@testable import KeychainStorage

@Suite("what stays after crashes, full disks and read-only media")
struct DurabilityTests {
    private func contains(_ path: String, _ bytes: [UInt8]) throws -> Bool {
        try Data(contentsOf: URL(fileURLWithPath: path)).range(of: Data(bytes)) != nil
    }

    @Test("F1, S1: committed data survives the end of the process; uncommitted data does not exist")
    func crash() throws {
        let scratch = try TemporaryDirectory()
        let record = try Samples.store()
        let store = try SQLiteRecordStore.create(at: scratch.keychain) { store throws(KeychainFault) in
            try store.write { writer throws(KeychainFault) in try writer.put(record) }
            return store
        }
        defer { store.close() }
        let items = try [Samples.item(1), Samples.item(2)]
        let copy = scratch["copy"]
        try store.write { writer throws(KeychainFault) in try writer.put(items[0], secret: [1]) }
        try store.write { writer throws(KeychainFault) in
            try writer.putWithSecret(items[1], Array(repeating: 2, count: 1 << 20))
            // The files that a crash would leave at this time.
            #expect(throws: Never.self) {
                for suffix in ["", "-wal"] {
                    try FileManager.default.copyItem(atPath: scratch.keychain + suffix, toPath: copy + suffix)
                }
            }
        }
        #expect(throws: StoreOpenError.needsRecovery) {
            try SQLiteRecordStore.open(path: copy, access: .readOnly)
        }
        let recovered = try SQLiteRecordStore.open(path: copy)
        defer { recovered.close() }
        try recovered.read { reader throws(KeychainFault) in
            #expect(try reader.item(id: items[0].id) == items[0])
            #expect(try reader.item(id: items[1].id) == nil)
        }
        #expect(try recovered.verifyStructure() == 0)
    }

    @Test("F9: a full disk is reported and loses no data, and writing continues when there is space again")
    func diskFull() throws {
        let disk = try SmallFileSystem(kilobytes: 1024)
        let path = disk.path + "/login.keychain"
        let store = try SQLiteRecordStore.create(at: path) { $0 }
        let item = try Samples.item(1)
        try store.write { writer throws(KeychainFault) in try writer.put(item, secret: [1, 2, 3]) }
        var changed = item
        changed.version = 2
        for _ in 0..<3 {
            #expect(throws: KeychainFault.diskFull) {
                try store.write { [changed] writer throws(KeychainFault) in
                    try writer.putWithSecret(changed, Array(repeating: 9, count: 2 << 20))
                }
            }
        }
        #expect(try store.read { reader throws(KeychainFault) in try reader.item(id: item.id) } == item)
        #expect(try store.read { reader throws(KeychainFault) in try reader.secret(of: item.id) } == [1, 2, 3])
        try store.write { [changed] writer throws(KeychainFault) in try writer.put(changed, secret: [4]) }
        #expect(try store.verifyStructure() == 0)
        store.close()
        let again = try SQLiteRecordStore.open(path: path)
        #expect(try again.read { reader throws(KeychainFault) in try reader.item(id: item.id) } == changed)
        #expect(try again.read { reader throws(KeychainFault) in try reader.secret(of: item.id) } == [4])
        again.close()
    }

    @Test("F9: after a statement that found the disk full, a body that continues changes nothing")
    func diskFullSwallowed() throws {
        let disk = try SmallFileSystem(kilobytes: 1024)
        let store = try SQLiteRecordStore.create(at: disk.path + "/login.keychain") { $0 }
        let items = try [Samples.item(1), Samples.item(2)]
        #expect(throws: KeychainFault.self) {
            try store.write { writer throws(KeychainFault) in
                // More than the page cache holds: SQLite has to spill to the log.
                do throws(KeychainFault) {
                    try writer.putWithSecret(items[0], Array(repeating: 9, count: 16 << 20))
                } catch {
                    #expect(error == .diskFull)
                }
                try writer.put(items[1], secret: [1])
            }
        }
        #expect(try store.read { reader throws(KeychainFault) in try reader.itemCount() } == 0)
        try store.write { writer throws(KeychainFault) in try writer.put(items[1], secret: [1]) }
        store.close()
    }

    @Test("F9: creation on a full disk reports it and leaves no file")
    func creatingOnFullDisk() throws {
        let disk = try SmallFileSystem(kilobytes: 64)
        let filler = URL(fileURLWithPath: disk.path + "/filler")
        try Data(count: 48 << 10).write(to: filler)
        #expect(throws: StoreOpenError.diskFull) {
            try SQLiteRecordStore.create(at: disk.path + "/login.keychain") { $0 }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == ["filler"])
    }

    @Test("a keychain on a read-only medium: opened for reading only, otherwise refused")
    func readOnlyMedium() throws {
        let disk = try SmallFileSystem(kilobytes: 1024)
        let path = disk.path + "/login.keychain"
        let item = try Samples.item(1)
        try SQLiteRecordStore.create(at: path) { store throws(KeychainFault) in
            try store.write { writer throws(KeychainFault) in try writer.put(item, secret: [1]) }
            return store
        }.close()
        try disk.remountReadOnly()
        #expect(throws: StoreOpenError.readOnlyFileSystem) { try SQLiteRecordStore.open(path: path) }
        #expect(throws: StoreOpenError.readOnlyFileSystem) {
            try SQLiteRecordStore.create(at: disk.path + "/other.keychain") { $0 }
        }
        let store = try SQLiteRecordStore.open(path: path, access: .readOnly)
        #expect(store.isReadOnly)
        #expect(try store.read { reader throws(KeychainFault) in try reader.item(id: item.id) } == item)
        #expect(throws: KeychainFault.readOnly) {
            try store.write { writer throws(KeychainFault) in try writer.deleteItem(item.id) }
        }
        #expect(try store.verifyStructure() == 0)
        store.close()
    }

    @Test("S8: after a checkpoint neither file contains deleted data")
    func secureDeletion() throws {
        let scratch = try TemporaryDirectory()
        let store = try SQLiteRecordStore.create(at: scratch.keychain) { $0 }
        defer { store.close() }
        let canary = Array("a ciphertext that is to vanish".utf8)
        let item = try Samples.item(1)
        try store.write { writer throws(KeychainFault) in try writer.put(item, secret: canary) }
        #expect(try contains(scratch.keychain + "-wal", canary))
        try store.checkpoint()
        #expect(try contains(scratch.keychain, canary))
        try store.write { writer throws(KeychainFault) in try writer.deleteItem(item.id) }
        try store.checkpoint()
        #expect(try !contains(scratch.keychain, canary))
        #expect(try scratch.size(of: "login.keychain-wal") == 0)
    }

    @Test("H5: a write within a write is refused, and the outer one commits")
    func nestedWrite() throws {
        let scratch = try TemporaryDirectory()
        let store = try SQLiteRecordStore.create(at: scratch.keychain) { $0 }
        defer { store.close() }
        let item = try Samples.item(1)
        try store.write { writer throws(KeychainFault) in
            try writer.put(item, secret: nil)
            #expect(try store.read { reader throws(KeychainFault) in try reader.itemCount() } == 1)
            #expect(throws: KeychainFault.io(21)) {
                try store.write { writer throws(KeychainFault) in try writer.deleteItem(item.id) }
            }
        }
        #expect(try store.read { reader throws(KeychainFault) in try reader.itemCount() } == 1)
    }
}
