import DeviceState
import Foundation
import Fuse
import Keychain
import SecretCrypto
import SystemPackage

/// The source of a new slot's secret.
enum NewSecret {
    case passphrase(PassphraseSource)
    /// Generated, and shown once.
    case recoveryKey
    case keyFile(NewKeyFile)
    /// A passphrase and a key file, which open the slot only together.
    case passphraseAndKeyFile(PassphraseSource, NewKeyFile)
    /// The present secret with its passphrase stays; only the cost changes.
    case samePassphrase
}

/// A new key file: generated if it does not exist; otherwise used unchanged.
struct NewKeyFile {
    let path: String
    /// Whether printable text is accepted in an existing file.
    let acceptsText: Bool
    /// The size of a generated file in bytes.
    private static let byteCount = 64

    /// Reads all bytes.
    func read(showMessage: (String) -> Void) throws(CLIError) -> UnlockSecret {
        try KeyFile(path: path, refusesText: !acceptsText).read(showMessage: showMessage)
    }

    /// Removes the file of a slot that was not added.
    func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// Generates the file, complete and durable on return. Returns false if the name exists.
    func make() throws(CLIError) -> Bool {
        let directory = FilePath(path).removingLastComponent().string
        guard !MountedKeychains.contain(directory) else {
            throw CLIError(.usage, "\(path) is in a mounted keychain, which a key file in it would not unlock.")
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
