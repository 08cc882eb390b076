import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain

/// The numbers of each vector are in `make-vectors`: row 150 in directory 120 of parent 110, versions 7 and 5, and so on.
@Suite("S6: vectors of associated data and MACs")
struct SealedFieldVectorTests {
    private static let vectors = Result { try VectorFile.decode(Vectors.self).sealedFields }

    private let vectors: Vectors.Fields

    init() throws { vectors = try Self.vectors.get() }

    private func bytes(_ name: String) throws -> [UInt8] { try #require(vectors.data[name]).bytes }

    private var seals: ChunkSeals { get throws { try #require(ChunkSeals(bytes: vectors.seals.bytes)) } }
    private var nonceAndTag: NonceAndTag { get throws { try #require(NonceAndTag(bytes: vectors.seals.bytes[..<40])) } }

    private func record(_ protection: ProtectionClass = .always) throws -> ItemRecord {
        ItemRecord(
            id: RowID(rawValue: 150), directory: RowID(rawValue: 120), version: 7, protection: protection,
            generation: 2,
            tag: vectors.tag.bytes, alwaysTag: vectors.alwaysTag.bytes, ephemeral: nil, mac: nil,
            metadata: Sealed(nonceAndTag: try nonceAndTag, ciphertext: [UInt8](repeating: 0, count: 64)),
            secretSeals: try seals)
    }

    @Test("Fields 1 and 2: items")
    func items() throws {
        let store = vectors.store.bytes
        let always = RowAssociatedData(try record(), store: store)
        let metadata = always.metadata(
            version: 7, tag: vectors.tag.bytes, alwaysTag: vectors.alwaysTag.bytes, secretSeals: try seals)
        #expect(try metadata.bytes == bytes("1"))
        let other = RowAssociatedData(try record(.whenUnlocked), store: store)
        let without = other.metadata(version: 7, tag: vectors.tag.bytes, alwaysTag: nil, secretSeals: ChunkSeals())
        #expect(try without.bytes == bytes("1 without"))
        #expect(try other.secret(version: 5).bytes == bytes("2"))
    }

    @Test("Fields 3 and 4: directories")
    func directories() throws {
        let record = DirectoryRecord(
            id: RowID(rawValue: 120), parent: RowID(rawValue: 110), version: 7, masterKeyGeneration: 3,
            tag: vectors.tag.bytes, alwaysTag: vectors.alwaysTag.bytes,
            name: Sealed(nonceAndTag: try nonceAndTag, ciphertext: []), alwaysName: nil)
        let (store, tag) = (vectors.store.bytes, vectors.tag.bytes)
        let name = DirectoryEnvelope.nameData(record.id, record.parent, 3, 7, tag, store: store)
        #expect(try name.bytes == bytes("3"))
        let always = DirectoryEnvelope.alwaysNameData(record, vectors.alwaysTag.bytes, store: store)
        #expect(try always.bytes == bytes("4"))
    }

    @Test("Fields 5 to 9 and 11: keys and the header")
    func keys() throws {
        let store = vectors.store.bytes
        let sealed = Sealed(nonceAndTag: try nonceAndTag, ciphertext: [])
        let row = StoreRecord(
            format: 2, identifier: store, salt: [], cost: .cheap, userKeyGeneration: 4, masterKeyGeneration: 3,
            masterKeys: sealed, header: sealed)
        #expect(try MasterKeyMaterial.binding(row).bytes == bytes("5"))
        #expect(try StoreHeader.binding(generation: 4, store: store).bytes == bytes("6"))
        let slot = SlotRecord(
            id: 9, kind: .keyFile, parameters: vectors.parameters.bytes, userKeyGeneration: 4, ephemeral: [],
            userKey: sealed, recipient: sealed)
        #expect(try SlotAddress(slot, store: store).binding(.userKey).bytes == bytes("7"))
        #expect(try SlotAddress(slot, store: store).binding(.recipient).bytes == bytes("8"))
        let classKeys = WrappingKeys.binding(
            .protection(.whenUnlockedThisDeviceOnly), 2, 5, .userAndDeviceKey, 4, store: store)
        #expect(try classKeys.bytes == bytes("9"))
        #expect(try UserKeyRecord.binding(3, present: 4, store: store).bytes == bytes("11"))
    }

    @Test("Field 12: the info of a past value")
    func past() throws {
        let bound = PastEnvelope.bound(
            RowID(rawValue: 160), 3, KeyGeneration(.always, 2), vectors.tag.bytes, try seals, store: vectors.store.bytes
        )
        #expect(try bound.bytes == bytes("12"))
    }

    @Test("Field 10: the MAC of an Always item; the binding of items that are added while locked")
    func macs() throws {
        var bytes = [UInt8](repeating: 0, count: MasterKeys.byteCount)
        bytes.replaceSubrange(64..<96, with: vectors.key.bytes)
        let master = try MasterKeys(SecretBytes(copying: bytes.rawSpan), 0..<MasterKeys.byteCount, generation: 3)
        let store = vectors.store.bytes
        #expect(try AlwaysMAC.bytes(of: record(), master: master, store: store) == vectors.row.bytes)
        let agreement = try RowKeys.KeyAgreement(
            shared: SecretBytes(count: 32), ephemeral: [], classKey: [], master: master, store: store)
        let expected = vectors.binding.bytes
        try agreement.binding.using { (key) throws(CryptoError) in
            #expect([UInt8](copying: key.bytes) == expected)
        }
    }
}

/// The file's shape, as far as these tests need it.
private struct Vectors: Decodable, Sendable {
    struct Fields: Decodable {
        let store: Hex, data: [String: Hex], tag: Hex, alwaysTag: Hex, seals: Hex, parameters: Hex
        let key: Hex, row: Hex, binding: Hex
    }

    let sealedFields: Fields
}
