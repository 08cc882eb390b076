public import KeychainClient

extension Keychain {
    /// Opens a keychain file in this process and unlocks it.
    ///
    /// - Parameter accessGroups: nil for the groups of the process, as in ``Keychain/mounted(at:accessGroups:)``.
    /// - Throws: ``KeychainFileError/inUse(process:)`` if it is mounted, or if another process has it open.
    public static func open(
        _ path: String, unlockingWith method: consuming UnlockMethod, accessGroups: [String]? = nil
    ) throws(KeychainFileError) -> OpenKeychain {
        let opened = try open(path, accessGroups: accessGroups)
        do throws(KeychainFileError) {
            try opened.unlock(with: method)
        } catch {
            opened.close()
            throw error
        }
        return opened
    }

    /// Opens a keychain file locked. Items that need no unlock can be used.
    public static func open(
        _ path: String, accessGroups: [String]? = nil
    ) throws(KeychainFileError) -> OpenKeychain {
        OpenKeychain(try FileKeychain(path: path), accessGroups: accessGroups)
    }

    /// Creates a keychain file and opens it unlocked.
    ///
    /// Missing directories are created. Without the passphrase the keychain cannot be opened; an empty passphrase is
    /// refused (``KeychainFileError/badSecret``).
    ///
    /// - Throws: ``KeychainFileError/exists`` if the file exists.
    public static func create(
        _ path: String, passphrase: consuming Secret, cost: KDFCost = .moderate, accessGroups: [String]? = nil
    ) throws(KeychainFileError) -> OpenKeychain {
        guard passphrase.count > 0 else { throw .badSecret }
        try FileKeychain.create(path: path, passphrase: passphrase.bytes, cost: cost.cost)
        return try open(path, unlockingWith: .passphrase(passphrase), accessGroups: accessGroups)
    }
}
