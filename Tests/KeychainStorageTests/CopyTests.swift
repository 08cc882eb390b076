import Foundation
import Keychain
import KeychainTesting
import LinuxSupport
import SecretCrypto
import Testing

@testable import KeychainStorage

@Suite("copies of a store")
struct CopyTests {
    private func contains(_ path: String, _ bytes: [UInt8]) throws -> Bool {
        try Data(contentsOf: URL(fileURLWithPath: path)).range(of: Data(bytes)) != nil
    }

    private func empty(_ scratch: TemporaryDirectory, _ name: String) -> String {
        _ = FileManager.default.createFile(atPath: scratch[name], contents: nil)
        return scratch[name]
    }

    /// Bytes that no other row has.
    private func mark(_ row: Int64, count: Int) -> [UInt8] {
        Array(Array(repeating: Array("<row \(row)>".utf8), count: count).joined().prefix(count))
    }

    private func filled(_ scratch: TemporaryDirectory) throws -> SQLiteRecordStore {
        let store = try SQLiteRecordStore.create(at: scratch.keychain) { $0 }
        let (record, items) = (try Samples.store(), try (1...40).map { try Samples.item(Int64($0)) })
        let marks = items.map { mark($0.id.rawValue, count: 600 * Int($0.id.rawValue)) }
        try store.write { writer throws(KeychainFault) in
            try writer.put(record)
            for (item, mark) in zip(items, marks) { try writer.putWithSecret(item, mark) }
        }
        return store
    }

    private func item(_ id: RowID, in store: SQLiteRecordStore) throws -> ItemRecord? {
        try store.read { reader throws(KeychainFault) in try reader.item(id: id) }
    }

    private func secret(_ id: RowID, in store: SQLiteRecordStore) throws -> [UInt8] {
        try store.read { reader throws(KeychainFault) in try reader.secret(of: id) }
    }

    @Test("S1: a copy contains every row, is an independent store, and has no log next to it")
    func complete() throws {
        let scratch = try TemporaryDirectory()
        let store = try filled(scratch)
        defer { store.close() }
        let path = empty(scratch, "copy")
        try store.copy(to: path) { _ in }
        #expect(try scratch.entries.filter { $0.hasPrefix("copy") } == ["copy"])
        let copy = try SQLiteRecordStore.open(path: path, access: .readOnly)
        defer { copy.close() }
        #expect(try copy.verifyStructure() == 0)
        for id in (1...40).map({ RowID(rawValue: $0) }) {
            #expect(try item(id, in: copy) == item(id, in: store) && item(id, in: store) != nil)
            #expect(try secret(id, in: copy) == secret(id, in: store))
        }
    }

    @Test("L4: a copy to a medium without permissions succeeds, although other users may write to it")
    func withoutPermissions() throws {
        let scratch = try TemporaryDirectory()
        let store = try filled(scratch)
        defer { store.close() }
        let path = empty(scratch, "copy")
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: path)
        try store.copy(to: path) { _ in }
        let copy = try SQLiteRecordStore.open(path: path, access: .readOnly)
        defer { copy.close() }
        #expect(try secret(RowID(rawValue: 1), in: copy) == mark(1, count: 600))
    }

    @Test("S1, S8: a copy contains no part of a deleted row, deleted from the store or from the copy")
    func noLeftovers() throws {
        let scratch = try TemporaryDirectory()
        let store = try filled(scratch)
        defer { store.close() }
        try store.write { writer throws(KeychainFault) in try writer.deleteItem(RowID(rawValue: 7)) }
        let path = empty(scratch, "copy")
        try store.copy(to: path) { writer throws(KeychainFault) in
            for id in [3, 9, 30, 40] { try writer.deleteItem(RowID(rawValue: Int64(id))) }
        }
        for id in 1...40 {
            let isDeleted = [3, 7, 9, 30, 40].contains(id)
            // Short enough to fit in one page.
            #expect(try contains(path, mark(Int64(id), count: 200)) == !isDeleted, "row \(id)")
        }
        #expect(try store.read { reader throws(KeychainFault) in try reader.itemCount() } == 39)
        let copy = try SQLiteRecordStore.open(path: path)
        defer { copy.close() }
        #expect(try copy.read { reader throws(KeychainFault) in try reader.itemCount() } == 35)
    }

    @Test("S1: a copy is a snapshot of one point in time, during concurrent writes")
    func atomicity() async throws {
        let scratch = try TemporaryDirectory()
        let store = try filled(scratch)
        defer { store.close() }
        // Always written together, so that no snapshot contains one without the other.
        let pair = [try Samples.item(100), try Samples.item(101)]
        try await withThrowingTaskGroup { group in
            group.addTask {
                for version in 1...60 {
                    try store.write { writer throws(KeychainFault) in
                        for var item in pair {
                            item.version = Int64(version)
                            try writer.put(item, secret: [UInt8(version)])
                        }
                    }
                }
            }
            for number in 0..<6 {
                let path = empty(scratch, "copy\(number)")
                try store.copy(to: path) { _ in }
                let copy = try SQLiteRecordStore.open(path: path, access: .readOnly)
                defer { copy.close() }
                #expect(try item(pair[0].id, in: copy)?.version == item(pair[1].id, in: copy)?.version)
            }
            try await group.waitForAll()
        }
    }

    @Test("S1: an existing file is not overwritten, and a failed edit leaves no copy")
    func refused() throws {
        let scratch = try TemporaryDirectory()
        let store = try filled(scratch)
        defer { store.close() }
        let taken = scratch["taken"]
        try Data("something".utf8).write(to: URL(fileURLWithPath: taken))
        #expect(throws: CopyError<KeychainFault>.self) { try store.copy(to: taken) { _ in } }
        #expect(try Data(contentsOf: URL(fileURLWithPath: taken)) == Data("something".utf8))
        #expect(throws: CopyError<KeychainFault>.copy(.param)) {
            try store.copy(to: empty(scratch, "copy")) { _ throws(KeychainFault) in throw .param }
        }
        #expect(try scratch.entries.contains("copy-wal") == false)
    }

    @Test("S1: of a store that is open for reading only, on a medium that takes nothing")
    func readOnly() throws {
        let scratch = try TemporaryDirectory()
        try filled(scratch).close()
        let store = try SQLiteRecordStore.open(path: scratch.keychain, access: .readOnly)
        defer { store.close() }
        try store.copy(to: empty(scratch, "copy")) { writer throws(KeychainFault) in
            try writer.deleteItem(RowID(rawValue: 1))
        }
        #expect(try store.read { reader throws(KeychainFault) in try reader.itemCount() } == 40)
    }
}
