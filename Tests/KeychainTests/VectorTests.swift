import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain

/// `Tests/StoreFormat/vectors.json`, made by the independent reader (`Tests/StoreFormat/make-vectors`) from the format's
/// document alone.
@Suite("S6: vectors of store format 2")
struct VectorTests {
    private static let vectors = Result { try VectorFile.decode(Vectors.self) }

    private let vectors: Vectors

    init() throws { vectors = try Self.vectors.get() }

    @Test("S2, S6: padding")
    func padding() {
        #expect(vectors.padding.count >= 10)
        for pair in vectors.padding { #expect(Padding.paddedCount(pair[0]) == pair[1], "\(pair[0])") }
    }

    @Test("S3, S6: keyed hashes over counted parts")
    func hashes() throws {
        #expect(vectors.hash.count >= 5)
        for vector in vectors.hash {
            let mac = try BLAKE2b.mac(
                key: vector.key.secret(), parts: vector.parts.map(\.bytes), count: vector.count)
            #expect(mac == vector.output.bytes)
        }
    }

    @Test("S3, S6: passphrases to roots")
    func roots() throws {
        for vector in vectors.argon2id {
            let cost = Argon2id.Cost(passes: vector.passes, memory: vector.memory)
            let root = try Argon2id.derive(
                passphrase: vector.passphrase.secret(), salt: vector.salt.bytes, cost: cost,
                count: SlotSecret.rootCount)
            #expect(root.plain == vector.root.bytes)
        }
    }

    @Test("L5, S6: recovery keys as people type them, and their roots")
    func recoveryKeys() throws {
        #expect(vectors.recoveryKeys.good.count >= 10 && vectors.recoveryKeys.bad.count >= 7)
        for vector in vectors.recoveryKeys.good {
            let key = try RecoveryKey(typed: vector.typed.secret())
            #expect(try root(of: UnlockSecret(recoveryKey: key), store: vector.store) == vector.root.bytes)
        }
        for vector in vectors.recoveryKeys.bad {
            let error = vector.groups.isEmpty ? .wrongLength(35) : RecoveryKeyError.mistyped(groups: vector.groups)
            #expect(throws: error) { _ = try RecoveryKey(typed: vector.typed.secret()).text().count }
        }
    }

    @Test("L5, S6: key files and their roots")
    func keyFiles() throws {
        #expect(vectors.keyFiles.good.count >= 4 && vectors.keyFiles.bad.count >= 4)
        for vector in vectors.keyFiles.good {
            let secret = try UnlockSecret(keyFile: vector.contents.secret())
            #expect(try root(of: secret, store: vector.store) == vector.root.bytes)
        }
        for contents in vectors.keyFiles.bad {
            #expect(throws: KeychainFault.param) { _ = try UnlockSecret(keyFile: contents.secret()).kind }
        }
    }

    @Test("L5, S6: roots of a passphrase and a key file together")
    func twoSecrets() throws {
        #expect(vectors.twoSecrets.count >= 3)
        for vector in vectors.twoSecrets {
            let secret = try UnlockSecret(
                passphrase: vector.passphrase.secret(), keyFile: vector.contents.secret())
            var record = try #require(try KeyRingFixture(unlocked: false).store.records.storeRecord)
            (record.identifier, record.salt) = (vector.store.bytes, vector.salt.bytes)
            record.cost = Argon2id.Cost(passes: vector.passes, memory: vector.memory)
            #expect(try SlotUnlock.root(of: secret, store: record).bytes.plain == vector.root.bytes)
        }
    }

    private func root(of secret: borrowing UnlockSecret, store: Hex) throws -> [UInt8] {
        var record = try #require(try KeyRingFixture(unlocked: false).store.records.storeRecord)
        record.identifier = store.bytes
        return try SlotUnlock.root(of: secret, store: record).bytes.plain
    }

    @Test("T2, S6: the names from which tags are computed")
    func names() throws {
        #expect(vectors.accountNames.count >= 10 && vectors.internetNames.count >= 10)
        for vector in vectors.accountNames {
            #expect(CanonicalName(account: vector.value()).bytes == vector.name.bytes, "\(vector.name)")
        }
        for vector in vectors.internetNames {
            #expect(
                try CanonicalName(service: .internet(vector.service())).bytes == vector.name.bytes, "\(vector.name)")
        }
    }

    @Test("T1, S6: spellings that are not canonical represent no name")
    func refusedNames() {
        #expect(vectors.refusedNames.account.count >= 10)
        for name in vectors.refusedNames.account {
            #expect(throws: NameError.self, "\(name)") { try CanonicalName(typed: name.bytes).account() }
        }
        for name in vectors.refusedNames.internet {
            #expect(throws: NameError.self, "\(name)") {
                try CanonicalName(typed: name.bytes).service(in: .internetPassword)
            }
        }
    }

    @Test("S6: valid items decode to their contents, and encode to the same bytes")
    func goodItems() throws {
        #expect(vectors.items.good.count >= 5)
        for vector in vectors.items.good {
            let template = vector.template
            let item = try MetadataCodec.item(vector.plaintext.bytes, like: template)
            #expect(try item == vector.item(), "\(vector.why)")
            #expect(try MetadataCodec.bytes(of: item) == vector.plaintext.bytes, "\(vector.why)")
        }
    }

    @Test("S6: items that break one rule are refused")
    func badItems() {
        #expect(vectors.items.bad.count >= 60)
        for vector in vectors.items.bad {
            var template = Item.sample()
            template.version = vector.version ?? 1
            #expect(throws: KeychainFault.decode, "\(vector.rule): \(vector.why)") {
                try MetadataCodec.item(vector.plaintext.bytes, like: template)
            }
        }
    }

    @Test("S6: directories that are well formed decode, and encode to the same bytes")
    func goodDirectories() throws {
        #expect(vectors.directories.good.count >= 5)
        for vector in vectors.directories.good {
            let directory = try DirectoryCodec.directory(vector.plaintext.bytes, like: .web)
            #expect(try DirectoryCodec.bytes(of: directory) == vector.plaintext.bytes)
        }
    }

    @Test("S6: directories that break one rule are refused")
    func badDirectories() {
        #expect(vectors.directories.bad.count >= 50)
        for vector in vectors.directories.bad {
            #expect(throws: KeychainFault.decode, "\(vector.rule): \(vector.why)") {
                try DirectoryCodec.directory(vector.plaintext.bytes, like: .web)
            }
        }
    }

    @Test("S2, S6: headers decode to their values and encode to the same bytes; others are refused")
    func headers() throws {
        #expect(vectors.headers.good.count >= 5 && vectors.headers.bad.count >= 5)
        for vector in vectors.headers.good {
            let header = try StoreHeader(decoding: vector.plaintext.bytes)
            #expect(header.encoded == vector.plaintext.bytes)
            #expect((header.commit, header.nextRow.rawValue) == (vector.commit, vector.nextRow))
            #expect(header.commitID == vector.commitID.bytes)
            #expect(try header.sums.keys == vector.keys.digest())
            #expect(try header.sums.rows == vector.rows.digest())
            #expect((header.storeTime, header.wallClock) == (vector.storeTime, vector.wallClock))
            let past = PastLimits(seconds: vector.pastSeconds, byteLimit: vector.pastLimit, bytes: vector.pastBytes)
            #expect(header.past == past)
            #expect((header.rulesRow.rawValue, header.rulesVersion) == (vector.rulesRow, vector.rulesVersion))
            #expect(header.rekeyDevice == vector.rekeyDevice)
        }
        for vector in vectors.headers.bad {
            #expect(throws: KeychainFault.decode, "\(vector.why)") {
                try StoreHeader(decoding: vector.plaintext.bytes)
            }
        }
    }

    @Test("S2, S6: the state of a store that is stored next to the device key")
    func deviceFiles() throws {
        for vector in vectors.deviceFile.good {
            let key = RevocableSecret(try vector.key.secret())
            let record = try DeviceFileRecord(decoding: vector.bytes.bytes, store: vector.store.bytes)
            #expect(try record.isAuthentic(key) && record.state == vector.state())
            #expect(
                try DeviceFileRecord.encode(vector.state(), store: vector.store.bytes, key: key) == vector.bytes.bytes)
        }
        #expect(vectors.deviceFile.bad.count >= 5)
        for vector in vectors.deviceFile.bad {
            let record = try? DeviceFileRecord(decoding: vector.bytes.bytes, store: vector.store.bytes)
            let isAuthentic = try record?.isAuthentic(RevocableSecret(try vector.key.secret())) ?? false
            #expect(!isAuthentic, "\(vector.why)")
        }
    }
}

/// The file's shape.
private struct Vectors: Decodable, Sendable {
    struct Hash: Decodable { let key: Hex, count: Int, parts: [Hex], output: Hex }
    struct Root: Decodable { let passphrase: Hex, salt: Hex, passes: UInt64, memory: UInt64, root: Hex }
    struct RefusedNames: Decodable { let account: [Hex], internet: [Hex] }
    struct Bad: Decodable { let plaintext: Hex, version: Int64?, rule: String, why: String }
    struct GoodDirectory: Decodable { let plaintext: Hex }
    struct Sum: Decodable {
        let count: Int64, sum: Hex

        func digest() throws -> DigestSum { try #require(DigestSum(count: count, digest: sum.bytes)) }
    }
    struct Header: Decodable {
        let plaintext: Hex, commit: Int64, commitID: Hex, nextRow: Int64, keys: Sum, rows: Sum, storeTime: Int64
        let wallClock: Int64, pastSeconds: Int64, pastLimit: Int64, pastBytes: Int64, rulesRow: Int64
        let rulesVersion: Int64, rekeyDevice: Int64
    }
    struct BadHeader: Decodable { let plaintext: Hex, why: String }
    struct Headers: Decodable { let good: [Header], bad: [BadHeader] }
    struct Items: Decodable { let good: [GoodItem], bad: [Bad] }
    struct Directories: Decodable { let good: [GoodDirectory], bad: [Bad] }
    struct DeviceFile: Decodable {
        let key: Hex, store: Hex, bytes: Hex, commit: Int64, commitID: Hex, generation: Int64, passes: UInt64
        let memory: UInt64, mark: Int64, markID: Hex

        func state() -> SeenState {
            SeenState(
                commit: commit, commitID: commitID.bytes, userKeyGeneration: generation,
                cost: Argon2id.Cost(passes: passes, memory: memory),
                mark: DeviceMark(commit: mark, commitID: markID.bytes))
        }
    }
    struct BadDeviceFile: Decodable { let key: Hex, store: Hex, bytes: Hex, why: String }
    struct RecoveryKey: Decodable { let typed: Hex, store: Hex, root: Hex }
    struct BadRecoveryKey: Decodable { let typed: Hex, groups: [Int] }
    struct RecoveryKeys: Decodable { let good: [RecoveryKey], bad: [BadRecoveryKey] }
    struct KeyFile: Decodable { let contents: Hex, store: Hex, root: Hex }
    struct TwoSecrets: Decodable {
        let passphrase: Hex, contents: Hex, salt: Hex, store: Hex, root: Hex
        let passes: UInt64, memory: UInt64
    }
    struct KeyFiles: Decodable { let good: [KeyFile], bad: [Hex] }
    struct DeviceFiles: Decodable { let good: [DeviceFile], bad: [BadDeviceFile] }

    let padding: [[Int]]
    let hash: [Hash]
    let argon2id: [Root]
    let recoveryKeys: RecoveryKeys
    let keyFiles: KeyFiles
    let twoSecrets: [TwoSecrets]
    let accountNames: [NamedValue]
    let internetNames: [NamedService]
    let refusedNames: RefusedNames
    let items: Items
    let directories: Directories
    let headers: Headers
    let deviceFile: DeviceFiles
}

private struct Value: Decodable, Sendable {
    let kind: String
    let bytes: Hex?
    let number: Int64?
    let date: [Int64]?

    func value() throws -> AttributeValue {
        switch kind {
        case "text": .text(try #require(bytes).bytes)
        case "data": .data(try #require(bytes).bytes)
        case "number": .number(try #require(number))
        default: .date(KeychainDate(try #require(date)))
        }
    }
}

private struct NamedValue: Decodable, Sendable {
    let kind: String
    let bytes: Hex
    let name: Hex

    func value() -> AttributeValue { kind == "text" ? .text(bytes.bytes) : .data(bytes.bytes) }
}

private struct NamedService: Decodable, Sendable {
    let server: Value
    let `protocol`: Value?
    let port: Value?
    let path: Value?
    let domain: Value?
    let auth: Value?
    let name: Hex

    func service() throws -> InternetService {
        var service = InternetService(server: try server.value())
        service.protocol = try `protocol`?.value()
        service.port = port?.number
        service.path = try path?.value()
        service.securityDomain = try domain?.value()
        service.authenticationType = try auth?.value()
        return service
    }
}

private struct GoodItem: Decodable, Sendable {
    struct Attribute: Decodable {
        let key: UInt8
        let value: Value

        init(from decoder: any Decoder) throws {
            var list = try decoder.unkeyedContainer()
            key = try list.decode(UInt8.self)
            value = try list.decode(Value.self)
        }
    }

    let plaintext: Hex
    let version: Int64
    let why: String
    let account: Value
    let creation: [Int64]
    let modification: [Int64]
    let reference: Hex
    let inode: UInt64
    let permissions: UInt32
    let user: UInt32
    let group: UInt32
    let mtime: [Int64]
    let atime: [Int64]
    let secretVersion: Int64
    let secretCount: Int?
    let attributes: [Attribute]?
    let laterAttributes: [Later]
    let laterFields: [Later]
    let extra: [[Hex]]?

    struct Later: Decodable {
        let tag: UInt8, value: Hex
        var field: LaterField { LaterField(tag: tag, value: value.bytes) }
    }

    var template: Item {
        var item = Item.sample()
        item.version = version
        return item
    }

    func item() throws -> Item {
        var item = template
        item.account = try account.value()
        (item.creationDate, item.modificationDate) = (KeychainDate(creation), KeychainDate(modification))
        item.persistentReference = reference.bytes
        item.file = PosixAttributes(
            inode: inode, permissions: permissions, userID: user, groupID: group,
            modificationTime: KeychainDate(mtime), accessTime: KeychainDate(atime))
        (item.secretVersion, item.secretCount) = (secretVersion, secretCount)
        item.attributes = [:]
        for attribute in attributes ?? [] {
            item.attributes[try #require(AttributeKey(rawValue: attribute.key))] = try attribute.value.value()
        }
        item.extraAttributes = [:]
        for pair in extra ?? [] { item.extraAttributes[pair[0].bytes] = pair[1].bytes }
        (item.laterAttributes, item.laterFields) = (laterAttributes.map(\.field), laterFields.map(\.field))
        return item
    }
}

extension KeychainDate {
    /// Seconds and nanoseconds.
    fileprivate init(_ parts: [Int64]) {
        self.init(seconds: parts[0], nanoseconds: Int32(parts[1]))
    }
}

extension SecretBytes {
    fileprivate var plain: [UInt8] { [UInt8](copying: bytes) }
}
