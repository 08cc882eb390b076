import SecretCrypto

/// The available keys under which class keys are wrapped: the device key always, the user key only during an unlock.
struct WrappingKeys: ~Copyable {
    private let store: [UInt8]
    private let device: SecretBytes
    private let user: SecretBytes?
    private let userAndDevice: SecretBytes?
    /// The generation of the user key; 0 without one.
    private let userKeyGeneration: Int64

    /// Creates the keys before an unlock: the device key alone.
    init(device: borrowing SecretBytes, store: [UInt8]) throws(CryptoError) {
        self.store = store
        self.device = try BLAKE2b.derive(key: device, parts: [KeyLabel.deviceWrapping, store])
        user = nil
        userAndDevice = nil
        userKeyGeneration = 0
    }

    /// Creates the keys during an unlock.
    init(
        user: borrowing SecretBytes, generation: Int64, device: borrowing SecretBytes, store: [UInt8]
    ) throws(CryptoError) {
        let byDevice = try BLAKE2b.derive(key: device, parts: [KeyLabel.deviceWrapping, store])
        let byUser = try BLAKE2b.derive(key: user, parts: [KeyLabel.userWrapping, store])
        userAndDevice = try BLAKE2b.derive(
            key: user, label: KeyLabel.userAndDeviceWrapping, secret: device, parts: [store])
        self.store = store
        userKeyGeneration = generation
        self.device = byDevice
        self.user = consume byUser
    }

    /// Whether records with that wrapping can be opened.
    func has(_ wrapping: Wrapping) -> Bool {
        switch wrapping {
        case .deviceKey: true
        case .userKey: user != nil
        case .userAndDeviceKey: userAndDevice != nil
        }
    }

    /// Wraps the keys of a generation. `device` is 0 for wrappings that are for all devices.
    func wrap(
        _ material: borrowing SecretBytes, purpose: KeyPurpose, generation: Int64, device: Int64, wrapping: Wrapping
    ) throws(CryptoError) -> ClassKeyRecord {
        let userKeyGeneration = wrapping == .deviceKey ? 0 : userKeyGeneration
        let bound = Self.binding(purpose, generation, device, wrapping, userKeyGeneration, store: store)
        let sealed = try withKey(wrapping) { (key) throws(CryptoError) in
            try Sealed.sealing(material.bytes, key: key, bound: bound)
        }
        return ClassKeyRecord(
            purpose: purpose, generation: generation, device: device, wrapping: wrapping,
            userKeyGeneration: userKeyGeneration, keys: sealed)
    }

    /// Returns all wrappings of a new generation that is created on this device.
    func records(
        of material: borrowing SecretBytes, _ purpose: KeyPurpose, generation: Int64, device: Int64
    ) throws(CryptoError) -> [ClassKeyRecord] {
        var records: [ClassKeyRecord] = []
        for wrapping in purpose.wrappings {
            records.append(
                try wrap(
                    material, purpose: purpose, generation: generation,
                    device: wrapping.isOfOneDevice ? device : 0, wrapping: wrapping))
        }
        return records
    }

    /// Unwraps the keys of a generation.
    ///
    /// - Throws: `authenticationFailed` if the record is not authentic; `keyUnavailable` if the wrapping key is not
    ///   available.
    func unwrap(_ record: ClassKeyRecord) throws(CryptoError) -> SecretBytes {
        let bound = Self.binding(
            record.purpose, record.generation, record.device, record.wrapping, record.userKeyGeneration, store: store)
        return try withKey(record.wrapping) { (key) throws(CryptoError) in
            try record.keys.open(key: key, bound: bound, count: record.purpose.materialCount)
        }
    }

    /// Wraps a record that `other` opens under these keys, with the same identity.
    func rewrap(
        _ record: ClassKeyRecord, openedBy other: borrowing WrappingKeys
    ) throws(CryptoError) -> ClassKeyRecord {
        try wrap(
            other.unwrap(record), purpose: record.purpose, generation: record.generation, device: record.device,
            wrapping: record.wrapping)
    }

    private func withKey<T: ~Copyable>(
        _ wrapping: Wrapping, _ body: (borrowing SecretBytes) throws(CryptoError) -> T
    ) throws(CryptoError) -> T {
        switch wrapping {
        case .deviceKey: return try body(device)
        case .userKey: return try Self.with(user, body)
        case .userAndDeviceKey: return try Self.with(userAndDevice, body)
        }
    }

    private static func with<T: ~Copyable>(
        _ key: borrowing SecretBytes?, _ body: (borrowing SecretBytes) throws(CryptoError) -> T
    ) throws(CryptoError) -> T {
        switch key {
        case .some(let key): return try body(key)
        case .none: throw .keyUnavailable
        }
    }

    static func binding(
        _ purpose: KeyPurpose, _ generation: Int64, _ device: Int64, _ wrapping: Wrapping, _ userKeyGeneration: Int64,
        store: [UInt8]
    ) -> AssociatedData {
        AssociatedData(.classKeys, store: store)
            .adding(Int64(purpose.rawValue), generation, device, Int64(wrapping.rawValue), userKeyGeneration)
    }
}
