import Keychain
import KeychainStorage
import KeychainTesting
import SecretCrypto
import Testing

/// Records with recognizable bytes, which the store does not interpret.
enum Samples {
    static func seal(_ byte: UInt8) throws -> NonceAndTag {
        try #require(NonceAndTag(bytes: Array(repeating: byte, count: NonceAndTag.byteCount)))
    }

    static func sealed(_ byte: UInt8, count: Int = 64) throws -> Sealed {
        Sealed(nonceAndTag: try seal(byte), ciphertext: Array(repeating: byte, count: count))
    }

    /// A ciphertext that has its own row.
    static let longSecret = [UInt8](repeating: 1, count: 9000)

    /// A tag that belongs to `number` alone.
    static func tag(_ number: Int64, always: Bool = false) -> [UInt8] {
        (0..<16).map { UInt8(truncatingIfNeeded: number >> (8 * Int64($0 % 8))) ^ (always ? 0xFF : 0) }
    }

    static func store() throws -> StoreRecord {
        StoreRecord(
            format: 2, identifier: Array(1...16), salt: Array(17...32),
            cost: Argon2id.Cost(passes: 3, memory: 268_435_456), userKeyGeneration: 1,
            masterKeyGeneration: 3, readerMask: 4, writerMask: 5, masterKeys: try sealed(0xA1, count: 128),
            header: try sealed(0xA2))
    }

    static func slot(_ id: Int64, kind: SlotKind = .passphrase) throws -> SlotRecord {
        SlotRecord(
            id: id, kind: kind, parameters: [1, 2, 3], userKeyGeneration: 7, ephemeral: Array(repeating: 9, count: 32),
            userKey: try sealed(0xB1, count: 32), recipient: try sealed(0xB2))
    }

    static func classKey(_ purpose: KeyPurpose, generation: Int64, device: Int64 = 0) throws -> ClassKeyRecord {
        ClassKeyRecord(
            purpose: purpose, generation: generation, device: device, wrapping: .userKey,
            userKeyGeneration: 3, keys: try sealed(UInt8(generation)))
    }

    static func directory(_ id: Int64, parent: Int64 = 1, always: Bool = false) throws -> DirectoryRecord {
        DirectoryRecord(
            id: RowID(rawValue: id), parent: RowID(rawValue: parent), version: 1, masterKeyGeneration: 1,
            tag: tag(id), alwaysTag: always ? tag(id, always: true) : nil, name: try sealed(0xC1),
            alwaysName: always ? try sealed(0xC2) : nil)
    }

    static func item(
        _ id: Int64, directory: Int64 = 2, protection: ProtectionClass = .whenUnlocked, chunks: Int = 1
    ) throws -> ItemRecord {
        let always = protection == .always
        return ItemRecord(
            id: RowID(rawValue: id), directory: RowID(rawValue: directory), version: 1, protection: protection,
            generation: 1, tag: tag(id), alwaysTag: always ? tag(id, always: true) : nil, ephemeral: nil, mac: nil,
            metadata: try sealed(0xD1, count: 128),
            secretSeals: .sample(count: chunks))
    }
}

/// The stores that keep the contract of the port: every test of ``RecordStoreContractTests`` runs on each.
enum StoreKind: CaseIterable {
    case sqlite
    /// The fake that other tests use: held to the same contract.
    case memory

    /// Creates an empty store, and an object that must live as long as the store.
    func make() throws -> (store: any RecordStore, keep: AnyObject) {
        switch self {
        case .sqlite:
            let scratch = try TemporaryDirectory()
            let store = try SQLiteRecordStore.create(at: scratch.keychain) { store in store }
            return (store, scratch)
        case .memory:
            let store = InMemoryRecordStore()
            return (store, store)
        }
    }
}

extension RecordWriter {
    /// Puts an item; a long secret gets a row number that belongs to the item alone.
    func putWithSecret(_ item: ItemRecord, _ secret: [UInt8]) throws(KeychainFault) {
        var item = item
        let isLong = secret.count > ItemRecord.longestShortSecret
        item.secretRow = isLong ? RowID(rawValue: item.id.rawValue + 1_000_000) : nil
        // A ciphertext without a seal for each chunk is not read.
        while let seal = item.secretSeals.chunks.last, item.secretSeals.count * SecretChunks.size < secret.count {
            item.secretSeals.chunks.append(seal)
        }
        try put(item, secret: secret)
    }
}
