import Foundation
import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain
@testable import KeychainStorage

@Suite("past values and item keys, for every store")
struct PastRecordTests {
    private static func past(_ id: Int64, _ protection: ProtectionClass = .whenUnlocked, chunks: Int = 1) throws
        -> PastRecord
    {
        PastRecord(
            id: RowID(rawValue: id), protection: protection, generation: id % 3, masterKeyGeneration: id % 2,
            tag: Samples.tag(7),
            info: try Samples.sealed(UInt8(id), count: 256),
            secretSeals: .sample(count: chunks),
            metadata: [UInt8](repeating: 1, count: 128))
    }

    private func withStore(_ kind: StoreKind, _ body: (any RecordStore) throws -> Void) throws {
        let (store, keep) = try kind.make()
        defer { store.close() }
        try withExtendedLifetime(keep) { try body(store) }
    }

    @Test(
        "Past values are returned as they were put, in the order of IDs, in pages; several share a tag",
        arguments: StoreKind.allCases)
    func pages(_ kind: StoreKind) throws {
        try withStore(kind) { store in
            let rows = try (Int64(1)...9).map {
                try Self.past($0, $0 == 4 ? .always : .whenUnlocked, chunks: Int($0) % 3)
            }
            try store.write { (writer) throws(KeychainFault) in
                for row in rows.reversed() { try writer.put(row, secret: [UInt8(row.id.rawValue)]) }
            }
            try store.read { (reader) throws(KeychainFault) in
                #expect(try reader.pastValues(after: .none, limit: 99) == rows)
                #expect(try reader.pastValues(after: rows[2].id, limit: 4) == Array(rows[3..<7]))
                #expect(try reader.pastIDs(after: rows[2].id, limit: 2) == [rows[3].id, rows[4].id])
                #expect(try reader.past(id: rows[4].id) == rows[4])
                #expect(try reader.past(id: RowID(rawValue: 99)) == nil)
                #expect(try reader.pastWithSecret(id: rows[4].id)?.secret == [5])
                #expect(try reader.pastCount() == 9)
                #expect(try reader.pastIDs(of: .always, limit: 9) == [rows[3].id])
                let old = OldKeys([KeyGeneration(.whenUnlocked, 2)], mastersBefore: 1)
                #expect(try reader.pastIDs(of: old, after: .none, limit: 9).map(\.rawValue) == [2, 4, 5, 6, 8])
                #expect(try reader.pastIDs(of: old, after: rows[3].id, limit: 2).map(\.rawValue) == [5, 6])
                #expect(try reader.rowCounts(of: old).past == 5)
                #expect(
                    try reader.usedKeys(of: [KeyGeneration(.always, 1), KeyGeneration(.always, 2)]) == [
                        KeyGeneration(.always, 1)
                    ])
                #expect(try reader.firstUnusedRowID(from: .first) == .first)
                #expect(try reader.rowCount(rows[6].id...RowID(rawValue: .max)) == 3)
                #expect(try reader.rowCount(rows[6].id...rows[6].id) == 1)
            }
        }
    }

    @Test(
        "The ciphertext of a past value is replaced, kept or moved to its own row, and counted",
        arguments: StoreKind.allCases)
    func secrets(_ kind: StoreKind) throws {
        try withStore(kind) { store in
            var row = try Self.past(5)
            func put(_ secret: [UInt8]?) throws -> ([UInt8]?, Int64) {
                let row = row
                return try store.write { (writer) throws(KeychainFault) in
                    try writer.put(row, secret: secret)
                    #expect(try writer.pastBytes() == writer.pastBytes(of: row.id))
                    return (try writer.pastWithSecret(id: row.id)?.secret, try writer.pastBytes(of: row.id))
                }
            }
            let base = Int64(512 + 256 + 128)
            #expect(try put([1, 2]) == ([1, 2], base + 2))
            row.tag = Samples.tag(8)
            #expect(try put(nil) == ([1, 2], base + 2))
            row.secretRow = RowID(rawValue: 200)
            #expect(try put(Samples.longSecret) == (Samples.longSecret, base + 9000))
            #expect(throws: KeychainFault.param) { try put([1]) }
            #expect(try store.verifyStructure() == 0)
            row.secretRow = nil
            #expect(throws: KeychainFault.param) { try put(Samples.longSecret) }
            #expect(try put([]) == ([], base))
            #expect(try store.verifyStructure() == 0)
            try store.write { (writer) throws(KeychainFault) in
                try writer.deletePast(RowID(rawValue: 5))
                try writer.deletePast(RowID(rawValue: 5))
                #expect(try writer.pastBytes() == 0)
            }
            #expect(try store.read { (reader) throws(KeychainFault) in try reader.pastCount() } == 0)
        }
    }

    @Test(
        "Item keys are returned in the order of items and kinds, in pages, and deleted with their item",
        arguments: StoreKind.allCases)
    func itemKeys(_ kind: StoreKind) throws {
        try withStore(kind) { store in
            let keys = [(3, 1), (3, 2), (5, 1), (7, 2)].map {
                ItemKeyRecord(item: RowID(rawValue: $0.0), kind: $0.1, tag: Samples.tag($0.0))
            }
            let item = try Samples.item(3)
            try store.write { (writer) throws(KeychainFault) in
                try writer.put(item, secret: [1])
                for key in keys.reversed() { try writer.put(key) }
            }
            try store.read { (reader) throws(KeychainFault) in
                let first = try reader.itemKeys(after: nil, limit: 3)
                #expect(first.records == Array(keys[..<3]) && first.last == keys[2].position && first.malformed == 0)
                let rest = try reader.itemKeys(after: first.last, limit: 3)
                #expect(rest.records == [keys[3]] && rest.last == nil)
                #expect(try reader.itemKeys(after: keys[0].position, limit: 1).records == [keys[1]])
                #expect(try reader.itemKeys(of: RowID(rawValue: 3)) == Array(keys[..<2]))
                #expect(try reader.itemKeyCount() == 4)
            }
            var changed = keys[1]
            changed.tag = Samples.tag(99)
            try store.write { [changed] (writer) throws(KeychainFault) in
                try writer.put(changed)
                #expect(try writer.itemKeys(of: RowID(rawValue: 3)) == [keys[0], changed])
                try writer.deleteItem(RowID(rawValue: 3))
                #expect(try writer.itemKeys(after: nil, limit: 9).records == Array(keys[2...]))
            }
        }
    }

    @Test("M20: a backup without past values fails if it would keep one of an unknown class")
    func unknownClass() throws {
        let fixture = try StoreFixture()
        try fixture.execute(["UPDATE past SET protection = 99 WHERE id = (SELECT min(id) FROM past)"])
        let store = try SQLiteRecordStore.open(path: fixture.path)
        defer { store.close() }
        let keychain = try fixture.keychain(in: store)
        #expect(throws: KeychainFault.decode) {
            _ = try store.write { (writer) throws(KeychainFault) in
                try keychain.prepareBackup(writer, withoutPast: true)
            }
        }
    }

    @Test("S4: the past values and item keys of a damaged file are recovered from its pages")
    func salvaged() throws {
        let scratch = try TemporaryDirectory()
        let store = try SQLiteRecordStore.create(at: scratch.keychain) { $0 }
        let rows = try (Int64(1)...40).map { try Self.past($0) }
        let keys = (Int64(1)...40).map { ItemKeyRecord(item: RowID(rawValue: $0), kind: 1, tag: Samples.tag($0)) }
        let record = try Samples.store()
        try store.write { (writer) throws(KeychainFault) in
            try writer.put(record)
            for row in rows { try writer.put(row, secret: [UInt8(row.id.rawValue)]) }
            for key in keys { try writer.put(key) }
        }
        try store.checkpoint()
        store.close()
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: scratch.keychain))
        try file.seek(toOffset: 100)
        try file.write(contentsOf: Data(repeating: 0xFF, count: 8))
        try file.close()
        let copy = scratch["copy"]
        try Data().write(to: URL(fileURLWithPath: copy))
        let salvaged = try SQLiteRecordStore.salvage(fileAt: scratch.keychain, to: copy)
        defer { salvaged.close() }
        try salvaged.read { (reader) throws(KeychainFault) in
            #expect(try reader.pastValues(after: .none, limit: 99) == rows)
            #expect(try reader.pastWithSecret(id: rows[6].id)?.secret == [7])
            #expect(try reader.itemKeys(after: nil, limit: 99).records == keys)
        }
    }
}
