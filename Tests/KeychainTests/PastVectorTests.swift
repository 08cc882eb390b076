import SecretCrypto
import Testing

@testable import Keychain

@Suite("S6: vectors of past values, item keys and row digests")
struct PastVectorTests {
    private static let vectors = Result { try VectorFile.decode(Vectors.self) }

    private let vectors: Vectors

    init() throws { vectors = try Self.vectors.get() }

    @Test("M2, S6: the info of past values decodes to its fields, and encodes to the same bytes")
    func goodInfos() throws {
        #expect(vectors.pastInfos.good.count >= 9)
        for vector in vectors.pastInfos.good {
            let info = try PastInfoCodec.info(vector.plaintext.bytes)
            #expect(try PastInfoCodec.bytes(of: info) == vector.plaintext.bytes, "\(vector.why)")
            #expect(info.place.itemClass.rawValue == vector.class && info.place.isSynchronizable == vector.sync)
            #expect(info.place.accessGroup == vector.group.bytes && (info.place.service != nil) == vector.hasService)
            #expect(info.date == KeychainDate(seconds: vector.date[0], nanoseconds: Int32(vector.date[1])))
            #expect(info.storeTime == vector.storeTime && info.reason.rawValue == vector.reason)
            #expect(info.threadGroup == vector.threadGroup?.bytes)
            let origin = info.origin
            #expect(
                [origin.id.rawValue, origin.directory.rawValue, origin.version] == [
                    vector.id, vector.directory, vector.version,
                ])
            #expect(origin.metadata.bytes == vector.metadata_seal.bytes && origin.tag == vector.tag.bytes)
            #expect(origin.alwaysTag == vector.always_tag?.bytes && origin.mac == vector.mac?.bytes)
            #expect(origin.masterKeyGeneration == vector.master_key_generation)
        }
    }

    @Test("R53, S6: an info that breaks one rule is refused")
    func badInfos() {
        #expect(vectors.pastInfos.bad.count >= 200)
        for vector in vectors.pastInfos.bad {
            #expect(throws: KeychainFault.decode, "\(vector.why)") { try PastInfoCodec.info(vector.plaintext.bytes) }
        }
    }

    @Test("M1, S6: lookup tags of past values, certificates and keys")
    func tags() throws {
        let tags = vectors.tags
        #expect(try tag(["past"], tags.reference.bytes) == tags.past.bytes)
        let directory = [UInt8](littleEndian: tags.directory)
        #expect(try tag(["primary key"], directory, tags.compared.bytes) == tags.keys[0].bytes)
        #expect(try tag(["public key"], tags.publicKey.bytes) == tags.keys[1].bytes)
        // The program computes them with other keys from the same parts.
        let fixture = try KeyRingFixture()
        var item = Item.sample(id: tags.item, directory: tags.directory)
        item.keyFields = [.primaryKey: tags.primaryKey.bytes, .publicKey: tags.publicKey.bytes]
        let keys = try fixture.ring.itemKeys(of: item)
        // Text and data with equal bytes are the same primary key.
        item.keyFields[.primaryKey] = tags.compared.bytes
        #expect(try fixture.ring.itemKeys(of: item) == keys && tags.compared.bytes != tags.primaryKey.bytes)
        let parts = [
            [Array("primary key".utf8), directory, tags.compared.bytes],
            [Array("public key".utf8), tags.publicKey.bytes],
        ]
        #expect(try keys.map(\.tag) == parts.map(fixture.ring.lookupTag))
        let past = try PastEnvelope(ring: fixture.ring).tag(persistentReference: tags.reference.bytes)
        #expect(try past == fixture.ring.lookupTag(parts: [Array("past".utf8), tags.reference.bytes]))
    }

    private func tag(_ label: [String], _ parts: [UInt8]...) throws -> [UInt8] {
        try BLAKE2b.mac(key: vectors.tags.key.secret(), parts: label.map { Array($0.utf8) } + parts, count: 16)
    }

    @Test("S2, S6: digests of rows of each table")
    func digests() throws {
        var tables: Set<String> = []
        for vector in vectors.rowDigests {
            let digest = RowDigest(try HeaderKeys(rowDigest: vector.key.secret()))
            let sum = try digest.sum(of: vector)
            #expect(sum.digest == vector.digest.bytes && sum.count == 1, "\(vector.table)")
            tables.insert(vector.table)
        }
        #expect(tables.count == 9)
    }
}

extension HeaderKeys {
    /// Keys of which only that of row digests is used.
    fileprivate convenience init(rowDigest: consuming SecretBytes) throws {
        let other = try SecretBytes(count: 32)
        self.init(
            generation: 1, header: RevocableSecret(try other.copy()), rowDigest: RevocableSecret(rowDigest),
            deviceFile: RevocableSecret(other))
    }
}

extension PastInfoCodec {
    fileprivate static func info(_ bytes: [UInt8]) throws -> PastInfo {
        let plaintext = bytes.rawSpan
        return try decode(plaintext)
    }

    fileprivate static func bytes(of info: PastInfo) throws -> [UInt8] {
        let plaintext = try encode(info)
        return [UInt8](copying: plaintext.bytes)
    }
}

extension RowDigest {
    fileprivate func sum(of row: Vectors.RowDigest) throws -> DigestSum {
        let c = row.columns
        switch row.table {
        case "store":
            let cost = Argon2id.Cost(passes: UInt64(c[4].number), memory: UInt64(c[5].number))
            return try sum(
                StoreRecord(
                    format: Int(c[0].number), identifier: c[2].bytes, salt: c[3].bytes, cost: cost,
                    userKeyGeneration: c[6].number, masterKeyGeneration: c[7].number, readerMask: c[8].number,
                    writerMask: c[9].number, masterKeys: c[10].sealed(c[11]), header: c[10].sealed(c[11])))
        case "slot":
            return try sum(
                SlotRecord(
                    id: c[0].number, kind: #require(SlotKind(rawValue: UInt8(c[1].number))), parameters: c[4].bytes,
                    userKeyGeneration: c[2].number, ephemeral: c[3].bytes, userKey: c[5].sealed(c[6]),
                    recipient: c[7].sealed(c[8])))
        case "device":
            return try sum(
                DeviceRecord(
                    id: c[0].number, tag: c[1].bytes, mark: DeviceMark(commit: c[2].number, commitID: c[3].bytes)))
        case "class_key":
            return try sum(
                ClassKeyRecord(
                    purpose: #require(KeyPurpose(rawValue: UInt8(c[0].number))), generation: c[1].number,
                    device: c[2].number, wrapping: #require(Wrapping(rawValue: UInt8(c[3].number))),
                    userKeyGeneration: c[4].number, keys: c[5].sealed(c[6])))
        case "user_key": return try sum(UserKeyRecord(generation: c[0].number, key: c[1].sealed(c[2])))
        case "directory":
            return try sum(
                DirectoryRecord(
                    id: c[0].row, parent: c[1].row, version: c[2].number, masterKeyGeneration: c[3].number,
                    tag: c[4].bytes, alwaysTag: c[5].optionalBytes, name: c[6].sealed(c[8]),
                    alwaysName: c[7].isNull ? nil : c[7].sealed(c[9])))
        default: return try sumOfItem(row.table, c)
        }
    }

    private func sumOfItem(_ table: String, _ c: [Vectors.Column]) throws -> DigestSum {
        switch table {
        case "item":
            return try sum(
                ItemRecord(
                    id: c[0].row, directory: c[1].row, version: c[2].number,
                    protection: #require(ProtectionClass(rawValue: UInt8(c[3].number))), generation: c[4].number,
                    masterKeyGeneration: c[5].optionalNumber, secretRow: c[6].optionalNumber.map(RowID.init),
                    tag: c[7].bytes, alwaysTag: c[8].optionalBytes, ephemeral: c[9].optionalBytes,
                    mac: c[10].optionalBytes, metadata: c[11].sealed(c[13]), secretSeals: c[12].seals()))
        case "past":
            return try sum(
                PastRecord(
                    id: c[0].row, protection: #require(ProtectionClass(rawValue: UInt8(c[1].number))),
                    generation: c[2].number, masterKeyGeneration: c[3].number,
                    secretRow: c[4].optionalNumber.map(RowID.init), tag: c[5].bytes, info: c[6].sealed(c[8]),
                    secretSeals: c[7].seals(), metadata: c[9].bytes))
        default: return try sum(ItemKeyRecord(item: c[0].row, kind: c[1].number, tag: c[2].bytes))
        }
    }
}

/// The file's shape, as far as these tests need it.
private struct Vectors: Decodable, Sendable {
    struct Info: Decodable {
        let plaintext: Hex, why: String, `class`: UInt8, sync: Bool, group: Hex, hasService: Bool, date: [Int64]
        let storeTime: Int64, reason: UInt8, threadGroup: Hex?, id: Int64, directory: Int64, version: Int64
        let metadata_seal: Hex, tag: Hex, always_tag: Hex?, mac: Hex?, master_key_generation: Int64?
    }
    struct Bad: Decodable { let plaintext: Hex, why: String }
    struct Infos: Decodable { let good: [Info], bad: [Bad] }
    struct Tags: Decodable {
        let key: Hex, reference: Hex, past: Hex, keys: [Hex], primaryKey: Hex, compared: Hex, publicKey: Hex,
            item: Int64,
            directory: Int64
    }
    /// A number, bytes or NULL.
    struct Column: Decodable {
        private let value: (number: Int64?, bytes: [UInt8]?)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                value = (nil, nil)
            } else if let number = try? container.decode(Int64.self) {
                value = (number, nil)
            } else {
                value = (nil, try container.decode(Hex.self).bytes)
            }
        }

        var isNull: Bool { value.number == nil && value.bytes == nil }
        var optionalNumber: Int64? { value.number }
        var optionalBytes: [UInt8]? { value.bytes }
        var bytes: [UInt8] { value.bytes ?? [] }
        var number: Int64 { value.number ?? .min }
        var row: RowID { RowID(rawValue: number) }

        func sealed(_ ciphertext: Column) throws -> Sealed {
            Sealed(nonceAndTag: try #require(NonceAndTag(bytes: bytes)), ciphertext: ciphertext.bytes)
        }

        func seals() throws -> ChunkSeals { try #require(ChunkSeals(bytes: bytes)) }
    }
    struct RowDigest: Decodable { let table: String, columns: [Column], key: Hex, digest: Hex }

    let pastInfos: Infos
    let tags: Tags
    let rowDigests: [RowDigest]
}
