public import KeychainClient

extension Keychain {
    /// Opens a keychain file in this process and unlocks it.
    ///
    /// - Parameter accessGroups: nil for those of the process, as ``Keychain/mounted(at:accessGroups:)``.
    /// - Throws: ``KeychainFileError/inUse(process:)`` if it is mounted, or open elsewhere.
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

    /// Opens it locked: what can be used without an unlock is there.
    public static func open(
        _ path: String, accessGroups: [String]? = nil
    ) throws(KeychainFileError) -> OpenKeychain {
        OpenKeychain(try FileKeychain(path: path), accessGroups: accessGroups)
    }

    /// Makes a new keychain file, which must not exist, and opens it unlocked.
    ///
    /// The directories that are missing are made. There is no way to it without the passphrase; an empty one is refused
    /// (``KeychainFileError/badSecret``).
    public static func create(
        _ path: String, passphrase: consuming Secret, cost: KDFCost = .moderate, accessGroups: [String]? = nil
    ) throws(KeychainFileError) -> OpenKeychain {
        guard passphrase.count > 0 else { throw .badSecret }
        try FileKeychain.create(path: path, passphrase: passphrase.bytes, cost: cost.cost)
        return try open(path, unlockingWith: .passphrase(passphrase), accessGroups: accessGroups)
    }
}
