import Keychain
import SecretCrypto
import Testing

/// The queries of a rekey (contract, L5).
@Suite("S7: rows by their keys, for every store", .serialized)
struct KeyGenerationRecordsTests {
    @Test("L5: items by the keys that seal them: exactly those, counted and in order")
    func keyGenerations() throws {
        for kind in StoreKind.allCases {
            let (store, keep) = try kind.make()
            defer { withExtendedLifetime(keep) { store.close() } }
            let rows: [(Int64, ProtectionClass, Int64)] = [
                (4, .whenUnlocked, 1), (5, .whenUnlocked, 2), (6, .afterFirstUnlock, 1), (7, .whenUnlocked, 1),
                (8, .afterFirstUnlock, 2), (9, .always, 1),
            ]
            try store.write { writer throws(KeychainFault) in
                for (id, protection, generation) in rows {
                    do {
                        var item = try Samples.item(id, protection: protection)
                        item.generation = generation
                        try writer.put(item, secret: [1])
                    } catch { throw .param }
                }
            }
            let wanted: Set = [
                KeyGeneration(.whenUnlocked, 1), KeyGeneration(.afterFirstUnlock, 2), KeyGeneration(.always, 7),
            ]
            try store.read { reader throws(KeychainFault) in
                #expect(
                    try reader.itemCounts(of: wanted) == [
                        KeyGeneration(.whenUnlocked, 1): 2, KeyGeneration(.afterFirstUnlock, 2): 1,
                    ])
                #expect(try reader.itemCounts(of: []).isEmpty)
                let old = OldKeys(wanted, mastersBefore: 1)
                let all = try reader.itemIDs(of: old, after: .none, limit: 9)
                #expect(all.map(\.rawValue) == [4, 7, 8])
                #expect(try reader.itemIDs(of: old, after: all[0], limit: 1).map(\.rawValue) == [7])
                #expect(try reader.itemIDs(of: old, after: all[2], limit: 9).isEmpty)
                #expect(try reader.itemIDs(of: OldKeys([], mastersBefore: 1), after: .none, limit: 9).isEmpty)
                #expect(try reader.rowCounts(of: old) == OldRowCounts(items: 3))
            }
        }
    }

    @Test("L5, M14: directories and MACs by the master keys that seal them")
    func masterKeys() throws {
        for kind in StoreKind.allCases {
            let (store, keep) = try kind.make()
            defer { withExtendedLifetime(keep) { store.close() } }
            try store.write { writer throws(KeychainFault) in
                for (id, generation) in [(4, 1), (5, 2), (6, 1), (7, 3)] as [(Int64, Int64)] {
                    do {
                        var directory = try Samples.directory(id)
                        directory.masterKeyGeneration = generation
                        try writer.put(directory)
                        var item = try Samples.item(id + 10, protection: .always)
                        item.masterKeyGeneration = id == 6 ? nil : generation
                        try writer.put(item, secret: [1])
                    } catch { throw .param }
                }
            }
            try store.read { reader throws(KeychainFault) in
                let old = OldKeys([], mastersBefore: 3)
                #expect(try reader.directoryIDs(of: old, after: .none, limit: 9).map(\.rawValue) == [4, 5, 6])
                let after = RowID(rawValue: 4)
                #expect(try reader.directoryIDs(of: old, after: after, limit: 1).map(\.rawValue) == [5])
                #expect(try reader.itemIDs(of: old, after: .none, limit: 9).map(\.rawValue) == [14, 15])
                #expect(try reader.rowCounts(of: old) == OldRowCounts(items: 2, directories: 3))
                #expect(try reader.rowCounts(of: OldKeys([], mastersBefore: 1)) == OldRowCounts())
            }
        }
    }
}
