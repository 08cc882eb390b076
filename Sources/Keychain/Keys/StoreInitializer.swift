package import SecretCrypto

extension StoreRecord {
    /// The format that this program writes, and the only format that it reads.
    package static let currentFormat = 2
    /// The features that this program knows: none yet.
    static let knownReaderMask: Int64 = 0
    static let knownWriterMask: Int64 = 0
    /// The size of ``StoreRecord/identifier`` in bytes.
    package static let identifierCount = 16
}

extension KeyRing {
    /// Creates the keys of a new, empty store in one transaction: its record, one passphrase slot, this device, the
    /// first generation of every class. Then stores its state for this device, before the store has a name.
    ///
    /// - Throws: `unacceptableCost`; `param` for a device key of a wrong size; `allocate`; the errors of the store.
    package static func create(
        in store: any RecordStore, passphrase: borrowing SecretBytes, cost: Argon2id.Cost,
        device: borrowing SecretBytes, commitNumberStore: (any CommitNumberStore)? = nil
    ) throws(KeychainFault) {
        guard device.count == DeviceKey.byteCount else { throw .param }
        let creation = try StoreInitializer(cost: cost)
        let root = try SlotUnlock.root(passphrase: passphrase, store: creation.record)
        let userKey = try KeychainFault.translating { () throws(CryptoError) in
            try SecretBytes(randomCount: AEAD.keyCount)
        }
        let ledger = DigestLedger()
        defer { ledger.close() }
        var record = try creation.complete(userKey: userKey, ledger: ledger)
        record.header = try ledger.digest().sealed(StoreHeader(), for: record)
        let slot = try creation.firstSlot(root: root, userKey: userKey)
        let classKeys = try creation.classKeys(userKey: userKey, device: device)
        try store.write(by: ledger) { (writer) throws(KeychainFault) in
            try writer.put(record)
            try writer.put(slot)
            try classKeys.write(writer)
        }
        guard let commitNumberStore else { return }
        let (seen, keys) = try ledger.lastState()
        try commitNumberStore.save(
            DeviceFileRecord.encode(seen, store: record.identifier, key: keys.deviceFile), for: record.identifier)
    }
}

/// The parts of a new store, in the order of their creation.
private struct StoreInitializer {
    /// The record without master keys and header, as deriving a key from the passphrase requires.
    let record: StoreRecord

    init(cost: Argon2id.Cost) throws(KeychainFault) {
        guard let none = NonceAndTag(bytes: [UInt8](repeating: 0, count: NonceAndTag.byteCount)) else { throw .param }
        let nothing = Sealed(nonceAndTag: none, ciphertext: [])
        record = StoreRecord(
            format: StoreRecord.currentFormat, identifier: SecureRandom.bytes(StoreRecord.identifierCount),
            salt: SecureRandom.bytes(Argon2id.saltCount), cost: cost, userKeyGeneration: 1, masterKeys: nothing,
            header: nothing)
    }

    /// Returns the record with new master keys, without a header. `ledger` gets the header keys.
    func complete(
        userKey: borrowing SecretBytes, ledger: DigestLedger
    ) throws(KeychainFault) -> StoreRecord {
        do throws(CryptoError) {
            var complete = record
            try MasterKeyMaterial().seal(into: &complete, userKey: userKey)
            let keys = try HeaderKeys(
                userKey: userKey, generation: record.userKeyGeneration, store: record.identifier)
            ledger.adopt(keys, nextRow: .first, last: nil)
            return complete
        } catch {
            throw KeychainFault(error)
        }
    }

    func firstSlot(
        root: borrowing SecretBytes, userKey: borrowing SecretBytes
    ) throws(KeychainFault) -> SlotRecord {
        do throws(CryptoError) {
            let secret = try SlotSecret(root: root, store: record.identifier, slot: 1)
            let address = SlotAddress(
                store: record.identifier, id: 1, kind: .passphrase, userKeyGeneration: record.userKeyGeneration)
            return try SlotRecord(wrapping: userKey, for: secret.recipient(), at: address)
        } catch {
            throw KeychainFault(error)
        }
    }

    func classKeys(
        userKey: borrowing SecretBytes, device: borrowing SecretBytes
    ) throws(KeychainFault) -> NewClassKeys {
        do throws(CryptoError) {
            let tag = try DeviceKey.tag(device, store: record.identifier)
            let keys = try WrappingKeys(
                user: userKey, generation: record.userKeyGeneration, device: device, store: record.identifier)
            return try NewClassKeys(tag: tag, keys: keys)
        } catch {
            throw KeychainFault(error)
        }
    }
}

/// The first device and the first generation of every class's keys.
private struct NewClassKeys {
    let device: DeviceRecord
    let records: [ClassKeyRecord]

    init(tag: [UInt8], keys: borrowing WrappingKeys) throws(CryptoError) {
        device = DeviceRecord(id: 1, tag: tag)
        var records: [ClassKeyRecord] = []
        for purpose in KeyPurpose.all {
            let material = try SecretBytes(randomCount: purpose.materialCount)
            records += try keys.records(of: material, purpose, generation: 1, device: device.id)
        }
        self.records = records
    }

    func write(_ writer: any RecordWriter) throws(KeychainFault) {
        try writer.put(device)
        for record in records { try writer.put(record) }
    }
}
