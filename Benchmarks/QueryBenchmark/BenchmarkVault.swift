import DeviceState
import Foundation
import Keychain
import KeychainStorage
import SecretCrypto

/// A throw-away keychain, filled without a mount.
struct BenchmarkVault {
    private let keychain: KeychainStore
    private let file: PosixAttributes

    private static let passphrase = Array("benchmark".utf8)
    private static let now = KeychainDate(seconds: 1_700_000_000, nanoseconds: 0)
    /// Items of one transaction.
    private static let batch = 2000

    /// Makes a keychain at `path` that the passphrase `benchmark` unlocks.
    init(creating path: String) throws {
        let store = try Self.makeStore(at: path)
        let ring = try KeyRing(
            store: store, device: try Self.device(), commitNumberStore: Self.commitNumberFile(for: path))
        try ring.unlock(passphrase: Self.secret())
        keychain = KeychainStore(store: store, keys: ring, clock: { Self.now })
        file = PosixAttributes(
            inode: 0, permissions: 0o600, userID: 0, groupID: 0, modificationTime: Self.now, accessTime: Self.now)
    }

    /// An empty one, as `keychainfs create` makes it.
    static func makeStore(at path: String) throws -> SQLiteRecordStore {
        let device = try Self.device()
        return try SQLiteRecordStore.create(at: path) { store throws(KeychainFault) in
            try KeyRing.create(
                in: store, passphrase: Self.secret(), cost: .moderate, device: device,
                commitNumberStore: commitNumberFile(for: path))
            return store
        }
    }

    /// The file that detects an older copy, in the state directory of a device whose home is the folder of the keychain.
    private static func commitNumberFile(for path: String) -> CommitNumberFile {
        let home = URL(fileURLWithPath: path).deletingLastPathComponent()
        return CommitNumberFile(directory: home.appendingPathComponent("keychainfs").path)
    }

    /// Derives the key from the passphrase, the only deliberately slow part of `makeStore`, to measure its cost.
    static func deriveKey() throws {
        let salt = [UInt8](repeating: 0, count: Argon2id.saltCount)
        _ = try Argon2id.derive(passphrase: try secret(), salt: salt, cost: .moderate, count: 32)
    }

    func close() { keychain.close() }

    /// Adds generic passwords of `size` bytes, with labels.
    func fill(_ names: BenchmarkNames, size: Int) throws {
        var folder = file
        folder.permissions = 0o700
        let directories = try keychain.change { [folder] (transaction) throws(KeychainFault) in
            let container = try transaction.container(ContainerKey(itemClass: .genericPassword), file: folder).id
            return try (0..<names.services).map { (number) throws(KeychainFault) in
                let key = Directory.Key.service(.generic(service: .string(names.service(number))))
                return try transaction.addDirectory(key, in: container, file: folder).id
            }
        }
        for start in stride(from: 0, to: names.count, by: Self.batch) {
            try keychain.change { (transaction) throws(KeychainFault) in
                for number in start..<min(names.count, start + Self.batch) {
                    var item = try item(number, names, in: directories[number % directories.count])
                    item.secretCount = size
                    _ = try transaction.save(item, secret: BenchmarkSecret(count: size))
                }
            }
        }
    }

    private func item(_ number: Int, _ names: BenchmarkNames, in directory: RowID) throws(KeychainFault) -> Item {
        let row = try keychain.reserveRowID()
        var facts = file
        facts.inode = UInt64(row.rawValue)
        var item = Item(
            id: row, directory: directory, protection: .whenUnlocked, account: .string(names.account(number)),
            creationDate: Self.now, persistentReference: SecureRandom.bytes(16), file: facts)
        item.attributes[.label] = .string(names.label(number))
        return item
    }

    private static func device() throws -> SecretBytes {
        try SecretBytes(copying: [UInt8](repeating: 1, count: 32).rawSpan)
    }

    private static func secret() throws(KeychainFault) -> SecretBytes {
        do throws(CryptoError) { return try SecretBytes(copying: passphrase.rawSpan) } catch { throw .allocate }
    }
}

private struct BenchmarkSecret: SecretSource {
    private let bytes: [UInt8]

    init(count: Int) { bytes = [UInt8](repeating: 7, count: count) }

    var secretCount: Int { bytes.count }

    func readSecret(at offset: Int, into output: inout MutableRawSpan) throws(KeychainFault) -> Int {
        try bytes.rawSpan.readSecret(at: offset, into: &output)
    }
}
