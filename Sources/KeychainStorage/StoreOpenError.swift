package import Keychain

/// Why a keychain file could not be opened or created. Nothing has been changed.
///
/// The path of the keychain is not part of an error: the caller knows it.
package enum StoreOpenError: Error, Hashable, Sendable {
    /// There is no such file.
    case notFound
    /// Something, be it a dangling symbolic link, has that name already.
    case alreadyExists
    /// Next to the store, at a name that SQLite uses, is something that no keychain leaves there: a rollback journal, or a log
    /// that is not a regular file.
    case foreignFile(path: String)
    /// The log next to the store has committed transactions of another store, or of another copy of this one.
    case mismatchedLog(path: String)
    /// Next to the path of a new store is a log or journal, which SQLite would use for the new store.
    case leftoverFile(path: String)
    /// It has another name too (a hard link), beside which another log may lie.
    case severalNames
    /// Other users may write to it, by its mode or as its owner.
    case othersMayWrite
    /// A directory, a device, a pipe.
    case notRegularFile
    /// No SQLite file, or that of another program.
    case notAKeychain
    /// A keychain, but shorter than its header says, or with another structure than was written.
    case damaged
    /// A keychain of a format that this version does not know.
    case unknownFormat(Int)
    /// Another mount or program has it open; 0 if it cannot be told which.
    case inUse(processID: Int32)
    /// The file or its directory cannot be read, or not be written.
    case permissionDenied
    /// The file system is mounted read-only: open for reading only.
    case readOnlyFileSystem
    /// Opened for reading only, but the last use was cut off: it has to be opened for writing once.
    case needsRecovery
    case diskFull
    /// The SQLite result code, or an errno, negative.
    case io(Int32)
    /// What the new keychain was to be filled with failed.
    case initialization(KeychainFault)
}
