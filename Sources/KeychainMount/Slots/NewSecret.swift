import DeviceState
import Foundation
import Fuse
import Keychain
import SecretCrypto
import SystemPackage

/// Where the secret of a new slot comes from.
enum NewSecret {
    case passphrase(PassphraseSource)
    /// Made here, and shown once.
    case recoveryKey
    case keyFile(NewKeyFile)
    /// The passphrase that unlocks stays; only its cost changes.
    case samePassphrase
}

/// A key file to be: made if nothing is there; else what is there, which is never overwritten.
struct NewKeyFile {
    let path: String
    /// Whether printable text is accepted in an existing file.
    let acceptsText: Bool
    /// Bytes of one that is made.
    private static let byteCount = 64

    /// All of its bytes.
    func read(showMessage: (String) -> Void) throws(CLIError) -> UnlockSecret {
        try KeyFile(path: path, refusesText: !acceptsText).read(showMessage: showMessage)
    }

    /// Of a slot that was not made after all.
    func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// Whole and durable when it returns; false if there is something of that name.
    func make() throws(CLIError) -> Bool {
        let directory = FilePath(path).removingLastComponent().string
        guard !MountedKeychains.contain(directory) else {
            throw CLIError(.usage, "\(path) lies in a mounted keychain, which a key file in it would not unlock.")
        }
        guard (try? FileManager.default.attributesOfItem(atPath: path)) == nil else { return false }
        do throws(Errno) {
            let temporaryFile = try TemporaryFile(for: path)
            try temporaryFile.writeRandom(count: Self.byteCount)
            try temporaryFile.install()
            return true
        } catch {
            guard error != .fileExists else { return false }
            throw CLIError(error, writing: path)
        }
    }
}
