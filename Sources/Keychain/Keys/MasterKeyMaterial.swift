package import SecretCrypto

/// The bytes of all sets of master keys, as the store seals them: the oldest set first.
package struct MasterKeyMaterial: ~Copyable {
    /// The number of sets that a reader accepts.
    static let setCounts = 1...64
    /// The maximum number of sets that a rotation creates. The store's row then remains on one page of the file.
    static let maximumCount = 12

    let bytes: SecretBytes
    /// The generation of the last set.
    let generation: Int64

    var count: Int { bytes.count / MasterKeys.byteCount }

    private init(_ bytes: consuming SecretBytes, generation: Int64) {
        self.bytes = bytes
        self.generation = generation
    }

    /// Creates the first set of a new store.
    init() throws(CryptoError) {
        bytes = try SecretBytes(randomCount: MasterKeys.byteCount)
        generation = 1
    }

    /// Opens the sets of a store with its user key.
    ///
    /// - Throws: `authenticationFailed` unless this user key sealed them for the store, and unless they have the same
    ///   lookup key.
    package init(opening record: StoreRecord, userKey: borrowing SecretBytes) throws(CryptoError) {
        self = try MasterKeyMaterial(opening: record, key: Self.key(userKey: userKey, store: record.identifier))
    }

    /// Opens the sets of a store with their ``key(userKey:store:)``.
    init(opening record: StoreRecord, key: borrowing SecretBytes) throws(CryptoError) {
        let count = record.masterKeys.ciphertext.count
        guard count % MasterKeys.byteCount == 0, Self.setCounts.contains(count / MasterKeys.byteCount),
            record.masterKeyGeneration >= count / MasterKeys.byteCount
        else { throw .authenticationFailed }
        let opened = try record.masterKeys.open(key: key, bound: Self.binding(record), count: count)
        guard Self.haveOneLookupKey(opened) else { throw .authenticationFailed }
        bytes = opened
        generation = record.masterKeyGeneration
    }

    /// Derives the key that seals the sets of a store from its user key.
    static func key(userKey: borrowing SecretBytes, store: [UInt8]) throws(CryptoError) -> SecretBytes {
        try BLAKE2b.derive(key: userKey, parts: [KeyLabel.masterKeyWrapping, store])
    }

    private static func haveOneLookupKey(_ sets: borrowing SecretBytes) -> Bool {
        let (first, size) = (MasterKeys.lookupRange, MasterKeys.byteCount)
        for start in stride(from: 0, to: sets.count, by: size) {
            let other = sets.bytes.extracting(start + first.lowerBound..<start + first.upperBound)
            guard SecretBytes.areEqual(sets.bytes.extracting(first), other) else { return false }
        }
        return true
    }

    /// Returns the sets and a new one with the same lookup key.
    func appendingSet() throws(CryptoError) -> MasterKeyMaterial {
        let new = try SecretBytes(randomCount: MasterKeys.byteCount)
        var all = try SecretBytes(count: bytes.count + MasterKeys.byteCount)
        all.copy(bytes.bytes, at: 0)
        all.copy(new.bytes, at: bytes.count)
        all.copy(bytes.bytes.extracting(MasterKeys.lookupRange), at: bytes.count + MasterKeys.lookupRange.lowerBound)
        return MasterKeyMaterial(all, generation: generation + 1)
    }

    /// Returns the last set alone.
    func newestSet() throws(CryptoError) -> MasterKeyMaterial {
        MasterKeyMaterial(
            try bytes.slice(bytes.count - MasterKeys.byteCount..<bytes.count), generation: generation)
    }

    /// Returns the keys of all sets.
    ///
    /// - Parameter key: The ``key(userKey:store:)``, kept with several sets.
    func keys(sealedBy key: consuming SecretBytes) throws(CryptoError) -> MasterKeySets {
        var sets: [MasterKeys] = []
        for index in 0..<count {
            let start = index * MasterKeys.byteCount
            sets.append(
                try MasterKeys(
                    bytes, start..<start + MasterKeys.byteCount, generation: generation - Int64(count - 1 - index)))
        }
        guard let newest = sets.popLast() else { throw .invalidParameter }
        return MasterKeySets(newest: newest, older: sets, sealing: sets.isEmpty ? nil : RevocableSecret(key))
    }

    /// Seals the sets for the user-key generation of `record`, and sets the generation of the newest one there.
    func seal(into record: inout StoreRecord, userKey: borrowing SecretBytes) throws(CryptoError) {
        try seal(into: &record, key: Self.key(userKey: userKey, store: record.identifier))
    }

    /// Seals the sets with their ``key(userKey:store:)``.
    func seal(into record: inout StoreRecord, key: borrowing SecretBytes) throws(CryptoError) {
        record.masterKeyGeneration = generation
        record.masterKeys = try Sealed.sealing(bytes.bytes, key: key, bound: Self.binding(record))
    }

    /// Returns the associated data. They include the format, so that these keys cannot be opened in a file of another
    /// one.
    static func binding(_ record: StoreRecord) -> AssociatedData {
        AssociatedData(.masterKeys, store: record.identifier)
            .adding(Int64(StoreRecord.currentFormat), record.userKeyGeneration, record.masterKeyGeneration)
    }
}
