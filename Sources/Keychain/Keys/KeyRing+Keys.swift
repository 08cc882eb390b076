import SecretCrypto
import Synchronization

extension KeyRing {
    /// Whether rows of the class's current generation can be opened now. May change at any time.
    package func isAvailable(_ protection: ProtectionClass) -> Bool {
        let entry = current.withLock { $0.table.current(.protection(protection)) }
        guard case .opened(let keys) = entry else { return false }
        return keys.isAvailable
    }

    /// Whether rows of that generation of the class can be opened now.
    package func isAvailable(_ protection: ProtectionClass, generation: Int64) -> Bool {
        guard case .opened(let keys) = current.withLock({ $0.table[.protection(protection), generation] }) else {
            return false
        }
        return keys.isAvailable
    }

    /// Whether rows may exist that cannot be opened now: the keychain is not unlocked, or some of its keys are another
    /// device's or require a passphrase slot.
    package var mayLackKeys: Bool { current.withLock { $0.lock != .unlocked || $0.table.isMissingKeys } }

    /// Whether a row belongs to another device: it is not listed and cannot be opened here (contract, L6).
    package func isForeign(_ protection: ProtectionClass, generation: Int64) -> Bool {
        if case .foreign = current.withLock({ $0.table[.protection(protection), generation] }) { true } else { false }
    }

    /// Returns the classes and generations whose keys are another device's.
    func foreignGenerations() -> [(protection: ProtectionClass, generation: Int64)] {
        current.withLock { $0.table.foreign }
    }

    /// The records of class keys that are not authentic, while another one with the same identity is.
    var mismatchedKeys: Set<ClassKeyRecord> { current.withLock { $0.table.mismatchedKeys } }

    /// Returns the keys of an existing row, which can be used at this time.
    ///
    /// - Throws: `interactionNotAllowed` if they are locked or another device's; `decode` if they are damaged or never
    ///   existed.
    package func keys(for purpose: KeyPurpose, generation: Int64) throws(KeychainFault) -> ClassKeys {
        let (entry, lock) = current.withLock { ($0.table[purpose, generation], $0.lock) }
        switch entry {
        case .opened(let keys):
            guard keys.isAvailable else { throw .interactionNotAllowed }
            return keys
        case .damaged, .ownerless: throw .decode
        case .foreign, .withheld: throw .interactionNotAllowed
        case nil:
            // Before the keys have been read, a missing generation may only be locked.
            let isComplete = lock.isAfterFirstUnlock && lock.permits(purpose.availability)
            throw isComplete ? .decode : .interactionNotAllowed
        }
    }

    /// Returns the keys for a new row: the newest generation of this device. Locked keys are returned, too, because of
    /// WhenUnlockedUnlessOpen's public key; using the others throws.
    ///
    /// - Throws: `interactionNotAllowed` if the lock state forbids the class or it has no keys yet; `decode` if they
    ///   are damaged.
    package func currentKeys(for protection: ProtectionClass) throws(KeychainFault) -> ClassKeys {
        let purpose = KeyPurpose.protection(protection)
        let (entry, isExpected) = current.withLock { state in
            let isPermitted = state.lock.isAfterFirstUnlock && state.lock.permits(protection.availability)
            return (state.table.current(purpose), isPermitted && !state.table.mayLack(purpose))
        }
        switch entry {
        case .opened(let keys): return keys
        case .damaged, .foreign, .ownerless, .withheld, nil: throw isExpected ? .decode : .interactionNotAllowed
        }
    }

    /// Returns the keys of the store itself that seal new rows.
    ///
    /// - Throws: `interactionNotAllowed` before the first unlock.
    package func masterKeys() throws(KeychainFault) -> MasterKeys { try masterKeySets().newest }

    /// Returns the keys of the store itself that seal a row.
    ///
    /// - Throws: `interactionNotAllowed` before the first unlock; `decode` without such a set.
    func masterKeys(generation: Int64) throws(KeychainFault) -> MasterKeys {
        guard let keys = try masterKeySets()[generation] else { throw .decode }
        return keys
    }

    /// - Throws: `interactionNotAllowed` before the first unlock.
    func masterKeySets() throws(KeychainFault) -> MasterKeySets {
        guard let master = current.withLock({ $0.master }) else { throw .interactionNotAllowed }
        return master
    }

    /// Returns the Always lookup and name keys. They have one generation, because tags must not change.
    package func alwaysKeys() throws(KeychainFault) -> ClassKeys {
        try keys(for: .alwaysLookup, generation: 1)
    }

    /// BLAKE2b-128(lookup key; parts).
    ///
    /// - Throws: `interactionNotAllowed` before the first unlock.
    package func lookupTag(parts: [[UInt8]]) throws(KeychainFault) -> [UInt8] {
        try Self.tag(parts, key: masterKeys().lookup)
    }

    /// BLAKE2b-128(Always lookup key; parts), also before the first unlock.
    ///
    /// - Throws: `interactionNotAllowed` on a device that has never unlocked the store.
    package func alwaysTag(parts: [[UInt8]]) throws(KeychainFault) -> [UInt8] {
        try Self.tag(parts, key: alwaysKeys().metadata)
    }

    private static func tag(_ parts: [[UInt8]], key: RevocableSecret) throws(KeychainFault) -> [UInt8] {
        try key.using { (key) throws(CryptoError) in try BLAKE2b.mac(key: key, parts: parts, count: 16) }
    }
}

extension KeyRing {
    /// Opens the header row.
    ///
    /// - Throws: `decode` if it is not authentic.
    package func header(of record: StoreRecord) throws(KeychainFault) -> StoreHeader {
        try ledger.digest().header(of: record)
    }

    /// Seals a header for a store.
    package func sealed(_ header: StoreHeader, for record: StoreRecord) throws(KeychainFault) -> Sealed {
        try ledger.digest().sealed(header, for: record)
    }
}

extension KeyRing {
    /// Reads all key records of the store.
    func keySnapshot() throws(KeychainFault) -> KeySnapshot {
        try store.read { (reader) throws(KeychainFault) in try KeySnapshot(reader) }
    }

    /// Derives the keys of the header from a user key, present or past.
    func headerKeys(
        _ userKey: borrowing SecretBytes, _ generation: Int64
    ) throws(KeychainFault) -> HeaderKeys {
        try KeychainFault.translating { () throws(CryptoError) in
            try HeaderKeys(userKey: userKey, generation: generation, store: storeID)
        }
    }
}
