/// Why a keychain file cannot be opened, made or unlocked.
public enum KeychainFileError: Error, Hashable, Sendable {
    /// There is no such file.
    case notFound
    /// Something of that name is there already.
    case exists
    /// Next to the keychain file, at a name that SQLite uses, is a file that does not belong to it: a log of another keychain, a
    /// rollback journal, a pipe. Nothing was changed; move it away.
    case foreignFile(path: String)
    /// Another process has it open: the daemon of a mount, or another program. Nil: it cannot be told which.
    case inUse(process: Int32?)
    /// It has another name too (a hard link): what is written by one could be lost by the other.
    case severalNames
    /// Other users may write to it, by its mode or as its owner: they could replace what is in it.
    case othersMayWrite
    /// It is no keychain, or of a format or with costs that this version does not take.
    case notAKeychain
    case damaged
    /// What was given opens no key slot.
    case wrongSecret
    /// A recovery key that is mistyped, a key file of fewer than 32 bytes or more than 64 KiB, an empty passphrase for a new
    /// keychain.
    case badSecret
    /// It is older than what this device has seen of it: somebody has put an old copy in its place.
    case rolledBack
    /// The file or its directory cannot be read and written by this user, or is on a read-only medium.
    case notWritable
    case diskFull
    /// No memory for the key derivation, or no locked memory.
    case outOfMemory
    /// The device key cannot be used; for a person.
    case deviceKey(String)
    case inputOutput
}

extension KeychainFileError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notFound: "There is no such keychain file."
        case .exists: "There is a file of that name already."
        case .foreignFile(let path): "\(path) does not belong to the keychain file. Move it away."
        case .inUse(let process): "The keychain is in use by \(process.map { "process \($0)" } ?? "another process")."
        case .severalNames: "The keychain file has several names (hard links): remove all but one."
        case .othersMayWrite: "The keychain file is refused: other users may write to it."
        case .notAKeychain: "The file is no keychain that this version can open."
        case .damaged: "The keychain file is damaged."
        case .wrongSecret: "That does not unlock the keychain."
        case .badSecret: "That is no recovery key, no key file, or an empty passphrase."
        case .rolledBack: "The keychain is older than what this device has seen of it."
        case .notWritable: "The keychain file or its directory cannot be written."
        case .diskFull: "The disk that holds the keychain is full."
        case .outOfMemory: "There is not enough memory."
        case .deviceKey(let message): message
        case .inputOutput: "The keychain file cannot be read or written."
        }
    }
}
