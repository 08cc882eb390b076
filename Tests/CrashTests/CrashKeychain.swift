import KeychainTesting
import SecretCrypto

@testable import Keychain
@testable import KeychainStorage

/// A keychain on an SQLite file, as one process has it open.
struct CrashKeychain: Sendable {
    let store: SQLiteRecordStore
    let ring: KeyRing
    let keychain: KeychainStore

    /// Makes one, and leaves it closed.
    static func create(at path: String, _ deviceState: DeviceStateStub) throws {
        try SQLiteRecordStore.create(at: path) { store throws(KeychainFault) in
            let passphrase = try Opener.passphrase.secret()
            try KeyRing.create(
                in: store, passphrase: passphrase.bytes, cost: .cheap, device: device(),
                commitNumberStore: deviceState)
            return store
        }.close()
    }

    /// Opens it, still locked.
    init(opening path: String, _ deviceState: DeviceStateStub) throws {
        store = try SQLiteRecordStore.open(path: path)
        do {
            ring = try KeyRing(
                store: store, device: Self.device(), commitNumberStore: deviceState)
            keychain = KeychainStore(store: store, keys: ring, clock: { .sample })
        } catch {
            store.close()
            throw error
        }
    }

    func unlock(_ opener: Opener = .passphrase) throws(KeychainFault) { try ring.unlock(with: opener.secret()) }

    /// Whether it opens a slot.
    func opens(_ opener: Opener) throws(KeychainFault) -> Bool {
        do throws(KeychainFault) {
            try ring.verify(ring.root(of: opener.secret()))
            return true
        } catch {
            guard error == .authFailed else { throw error }
            return false
        }
    }

    /// Closes the keychain, which is required before another one can be opened.
    func close() { keychain.close() }

    /// Closes it after a compaction, as a daemon does at an unmount: a compaction that fails is not reported.
    func compact() {
        ring.close()
        _ = try? store.close(compacting: .onRequest)
        close()
    }

    private static func device() throws(KeychainFault) -> SecretBytes {
        try KeychainFault.translating { () throws(CryptoError) in
            try SecretBytes(copying: [UInt8](repeating: 1, count: DeviceKey.byteCount).rawSpan)
        }
    }
}

struct Contents: SecretSource {
    let bytes: [UInt8]
    var secretCount: Int { bytes.count }

    init(_ count: Int, of byte: UInt8) { bytes = [UInt8](repeating: byte, count: count) }

    func readSecret(at offset: Int, into output: inout MutableRawSpan) throws(KeychainFault) -> Int {
        let source = bytes.rawSpan
        return try source.readSecret(at: offset, into: &output)
    }
}

extension KeychainDate {
    static let sample = KeychainDate(seconds: 1_700_000_000)
}

extension PosixAttributes {
    static let sample = PosixAttributes(
        inode: 1, permissions: 0o600, userID: 1, groupID: 1, modificationTime: .sample, accessTime: .sample)
}
