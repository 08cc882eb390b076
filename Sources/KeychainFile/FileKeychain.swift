import DeviceState
import Foundation
import Glibc
import Keychain
import KeychainRPC
import KeychainServer
import KeychainStorage
import LinuxSupport
import SecretCrypto

/// An open keychain file of this process, with its keys.
struct FileKeychain: Sendable {
    private let keychain: KeychainStore
    let connection: InProcessTransport

    /// Opens the file. The keychain is locked.
    init(path: String) throws(KeychainFileError) {
        let locations = DefaultPaths()
        InterruptedOperations(of: path, locations: locations).undo()
        let store: SQLiteRecordStore
        do throws(StoreOpenError) {
            store = try SQLiteRecordStore.open(path: path, refusesOtherWriters: true)
        } catch {
            throw KeychainFileError(error)
        }
        do throws(KeychainFileError) {
            keychain = try Self.keychain(store, device: Self.device(locations), locations)
        } catch {
            store.close()
            throw error
        }
        connection = InProcessTransport(
            RequestHandler(keychain: keychain), owner: FileOwner(userID: geteuid(), groupID: getegid()))
        startVerification()
    }

    /// Starts the thread that verifies rows and indexes after the first unlock, as a mount does. It runs until the
    /// keychain is closed. Without a thread the keychain works, but trusts the indexes after a second.
    private func startVerification() {
        let keychain = keychain
        keychain.expectVerification()
        try? BackgroundThread.start(stack: .large) { keychain.verifyInBackground { _ in } }
    }

    /// Creates a keychain file, and directories as needed. Leaves no files behind if it fails.
    static func create(
        path: String, passphrase: borrowing SecretBytes, cost: Argon2id.Cost
    ) throws(KeychainFileError) {
        let locations = DefaultPaths()
        let device = try device(locations)
        InterruptedOperations(of: path, locations: locations).removeDrafts()
        do throws(StoreOpenError) {
            try SQLiteRecordStore.create(at: path) { (store) throws(KeychainFault) in
                try KeyRing.create(
                    in: store, passphrase: passphrase, cost: cost, device: device,
                    commitNumberStore: CommitNumberFile(directory: locations.stateDirectory))
                return store
            }.close()
        } catch {
            throw KeychainFileError(error)
        }
    }

    var isUnlocked: Bool { keychain.keys.state == .unlocked }

    func unlock(with secret: borrowing UnlockSecret) throws(KeychainFileError) {
        do throws(KeychainFault) {
            try keychain.keys.unlock(with: secret, acceptingRollback: false)
        } catch {
            throw KeychainFileError(error)
        }
    }

    func lock() {
        keychain.lock()
        // The commit number store reports the failure; the keychain is locked in any case.
        try? keychain.keys.keepCommitNumber()
    }

    func close() { keychain.close() }

    private static func device(_ locations: DefaultPaths) throws(KeychainFileError) -> SecretBytes {
        do throws(DeviceKeyError) {
            return try DeviceKeyFile(locations).read()
        } catch {
            throw KeychainFileError(error)
        }
    }

    private static func keychain(
        _ store: SQLiteRecordStore, device: consuming SecretBytes, _ locations: DefaultPaths
    ) throws(KeychainFileError) -> KeychainStore {
        do throws(KeychainFault) {
            let keys = try KeyRing(
                store: store, device: device, commitNumberStore: CommitNumberFile(directory: locations.stateDirectory))
            return KeychainStore(store: store, keys: keys, clock: { KeychainDate.now })
        } catch {
            throw KeychainFileError(error)
        }
    }
}
