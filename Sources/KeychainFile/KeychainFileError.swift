/// The error of opening, creating or unlocking a keychain file.
public enum KeychainFileError: Error, Hashable, Sendable {
    /// The file does not exist.
    case notFound
    /// A file of that name exists already.
    case exists
    /// A file next to the keychain file, with a name that SQLite uses, does not belong to it: a log of another
    /// keychain, a rollback journal, a pipe. Nothing was changed; move that file away.
    case foreignFile(path: String)
    /// Another process has the file open: the daemon of a mount, or another program. The process ID is nil if it is
    /// unknown.
    case inUse(process: Int32?)
    /// The file has another name too (a hard link). Data written through one name could be lost through the other.
    case severalNames
    /// Other users may write to the file, by its mode or as its owner. They could replace its contents.
    case othersMayWrite
    /// The file is not a keychain, or has a format or cost that this version does not accept.
    case notAKeychain
    case damaged
    /// The given secret opens no key slot.
    case wrongSecret
    /// A mistyped recovery key, a key file of fewer than 32 bytes or more than 64 KiB, or an empty passphrase for a new
    /// keychain.
    case badSecret
    /// The keychain is older than the state that this device has seen, another copy, or the file of this device that shows
    /// it is missing or damaged.
    case rolledBack
    /// This user cannot read and write the file or its directory, or the medium is read-only.
    case notWritable
    case diskFull
    /// There is no memory for the key derivation, or no locked memory.
    case outOfMemory
    /// The device key cannot be used. The message is for users.
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
        case .severalNames: "The keychain file has several names (hard links): turn all others into copies."
        case .othersMayWrite: "The keychain file is refused: other users may write to it."
        case .notAKeychain: "The file is not a keychain that this version can open."
        case .damaged: "The keychain file is damaged."
        case .wrongSecret: "That does not unlock the keychain."
        case .badSecret: "That is not a recovery key or key file, or the passphrase is empty."
        case .rolledBack: "The keychain is older than, or another copy than, the state that this device has seen."
        case .notWritable: "The keychain file or its directory cannot be written."
        case .diskFull: "The disk that holds the keychain is full."
        case .outOfMemory: "There is not enough memory."
        case .deviceKey(let message): message
        case .inputOutput: "The keychain file cannot be read or written."
        }
    }
}
