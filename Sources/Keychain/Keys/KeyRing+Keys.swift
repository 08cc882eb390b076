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

    /// Whether there may be a row that cannot be opened now: the keychain is not unlocked, or keys of it are another device's or
    /// wait for a passphrase slot.
    package var mayLackKeys: Bool { current.withLock { $0.lock != .unlocked || $0.table.isMissingKeys } }

    /// Whether a row is bound to another device: not listed, and never to be opened here (contract, L6).
    package func isForeign(_ protection: ProtectionClass, generation: Int64) -> Bool {
        if case .foreign = current.withLock({ $0.table[.protection(protection), generation] }) { true } else { false }
    }

    /// The classes and generations whose keys are another device's.
    func foreignGenerations() -> [(protection: ProtectionClass, generation: Int64)] {
        current.withLock { $0.table.foreign }
    }

    /// Records of class keys that are not what was written, while another one for the same place is.
    var mismatchedKeys: Set<ClassKeyRecord> { current.withLock { $0.table.mismatchedKeys } }

    /// The keys of an existing row, usable at this moment.
    ///
    /// - Throws: `interactionNotAllowed` if they are locked or another device's, `decode` if they are damaged or
    ///   there never were any.
    package func keys(for purpose: KeyPurpose, generation: Int64) throws(KeychainFault) -> ClassKeys {
        let (entry, lock) = current.withLock { ($0.table[purpose, generation], $0.lock) }
        switch entry {
        case .opened(let keys):
            guard keys.isAvailable else { throw .interactionNotAllowed }
            return keys
        case .damaged, .ownerless: throw .decode
        case .foreign, .withheld: throw .interactionNotAllowed
        case nil:
            // Before that it may be merely closed.
            let isComplete = lock.isAfterFirstUnlock && lock.permits(purpose.availability)
            throw isComplete ? .decode : .interactionNotAllowed
        }
    }

    /// The keys for a new row: the newest generation of this device's. Locked ones are given too, for the sake of
    /// UnlessOpen's public key: their use throws.
    ///
    /// - Throws: `interactionNotAllowed` if the lock state forbids the class or nobody has made keys for it yet, `decode` if
    ///   they are damaged.
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

    /// The keys of the store as a whole; `interactionNotAllowed` before the first unlock.
    package func masterKeys() throws(KeychainFault) -> MasterKeys {
        guard let master = current.withLock({ $0.master }) else { throw .interactionNotAllowed }
        return master
    }

    /// The Always look-up and name keys. They have one generation only: tags must stay.
    package func alwaysKeys() throws(KeychainFault) -> ClassKeys {
        try keys(for: .alwaysLookup, generation: 1)
    }

    /// BLAKE2b-128(look-up key; parts); `interactionNotAllowed` before the first unlock.
    package func lookupTag(parts: [[UInt8]]) throws(KeychainFault) -> [UInt8] {
        try Self.tag(parts, key: masterKeys().lookup)
    }

    /// BLAKE2b-128(Always look-up key; parts), also before the first unlock; `interactionNotAllowed` on a device that
    /// has never unlocked the store.
    package func alwaysTag(parts: [[UInt8]]) throws(KeychainFault) -> [UInt8] {
        try Self.tag(parts, key: alwaysKeys().metadata)
    }

    private static func tag(_ parts: [[UInt8]], key: RevocableSecret) throws(KeychainFault) -> [UInt8] {
        try key.using { (key) throws(CryptoError) in try BLAKE2b.mac(key: key, parts: parts, count: 16) }
    }
}

extension KeyRing {
    /// What the header row says; `decode` if it is not what was sealed.
    package func header(of record: StoreRecord) throws(KeychainFault) -> StoreHeader {
        try StoreHeader(opening: record.header, key: masterKeys().header, store: storeID)
    }

    /// The header row of the next commit.
    package func sealed(_ header: StoreHeader) throws(KeychainFault) -> Sealed {
        let store = storeID
        return try masterKeys().header.using { (key) throws(CryptoError) in
            try header.sealed(by: key, store: store)
        }
    }
}
