package import Keychain

/// The reason why a keychain file could not be opened or created. Nothing has been changed.
///
/// Does not contain the path of the keychain, which the caller knows.
package enum StoreOpenError: Error, Hashable, Sendable {
    /// The file does not exist.
    case notFound
    /// The name exists already, even as a dangling symbolic link.
    case alreadyExists
    /// Next to the store, at a name that SQLite uses, is a file that no keychain leaves: a rollback journal, or a log
    /// that is not a regular file.
    case foreignFile(path: String)
    /// The log next to the store has committed transactions of another store, or of another copy of this one.
    case mismatchedLog(path: String)
    /// Next to the path of a new store is a log or journal, which SQLite would use for the new store.
    case leftoverFile(path: String)
    /// The file has another name (a hard link), next to which another log may exist.
    case severalNames
    /// Other users may write to the file, by its mode or as its owner.
    case othersMayWrite
    /// A directory, a device or a pipe.
    case notRegularFile
    /// The file is not an SQLite file, or belongs to another program.
    case notAKeychain
    /// A keychain that is shorter than its header states, or has another structure than this program writes.
    case damaged
    /// A keychain of a format that this version does not support.
    case unknownFormat(Int)
    /// Another mount or program has the file open; its process ID, or 0 if it is unknown.
    case inUse(processID: Int32)
    /// The file or its directory cannot be read or written, or its path is too long.
    case permissionDenied
    /// The file system is mounted read-only: open the file for reading only.
    case readOnlyFileSystem
    /// Opened for reading only after an interrupted use: it must be opened for writing once.
    case needsRecovery
    case diskFull
    /// An SQLite result code, or a negative errno.
    case io(Int32)
    /// The function that fills a new keychain has failed.
    case initialization(KeychainFault)
}
