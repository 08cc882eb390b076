package import SecretCrypto

/// The row that describes the store. Readable except for the sealed members.
package struct StoreRecord: Hashable, Sendable {
    /// The format version.
    package var format: Int
    /// 16 random bytes that are unique to the store and part of all associated data.
    package var identifier: [UInt8]
    /// The salt (16 bytes) and cost that all passphrase slots share.
    package var salt: [UInt8]
    package var cost: Argon2id.Cost
    package var userKeyGeneration: Int64
    /// The generation of the newest master keys, from 1.
    package var masterKeyGeneration: Int64
    /// The features that a program must know to read the store, and to change it, as bits.
    package var readerMask: Int64
    package var writerMask: Int64
    /// The master keys, sealed under the user key.
    package var masterKeys: Sealed
    /// The ``StoreHeader``, sealed.
    package var header: Sealed

    package init(
        format: Int, identifier: [UInt8], salt: [UInt8], cost: Argon2id.Cost, userKeyGeneration: Int64,
        masterKeyGeneration: Int64 = 1, readerMask: Int64 = 0, writerMask: Int64 = 0, masterKeys: Sealed,
        header: Sealed
    ) {
        self.format = format
        self.identifier = identifier
        self.salt = salt
        self.cost = cost
        self.userKeyGeneration = userKeyGeneration
        self.masterKeyGeneration = masterKeyGeneration
        self.readerMask = readerMask
        self.writerMask = writerMask
        self.masterKeys = masterKeys
        self.header = header
    }
}

/// The type of a slot's secret. Raw values are part of the store format.
package enum SlotKind: UInt8, CaseIterable, Hashable, Sendable {
    case passphrase = 1
    case recoveryKey = 2
    case keyFile = 3
    /// Reserved.
    case tpm2 = 4
    /// Reserved.
    case fido2 = 5
    /// Reserved.
    case systemdCredential = 6
    /// A passphrase and a key file, which open the slot only together.
    case passphraseAndKeyFile = 7
    /// Reserved, for PIV and age plugins.
    case plugin = 8
    /// Reserved.
    case later = 9

    /// Whether the secret includes a passphrase, which is derived with the cost of the store.
    package var hasPassphrase: Bool { self == .passphrase || self == .passphraseAndKeyFile }
}

/// A slot: an X25519 recipient of the user key.
package struct SlotRecord: Hashable, Sendable {
    package var id: Int64
    package var kind: SlotKind
    /// Data that reserved types need besides the secret; empty for the others.
    package var parameters: [UInt8]
    package var userKeyGeneration: Int64
    /// The public key of the pair that wrapped the user key (32 bytes).
    package var ephemeral: [UInt8]
    /// The user key, sealed under the key that both sides derive.
    package var userKey: Sealed
    /// The slot's public key and MAC key, sealed under the user key, for which a rotation wraps.
    package var recipient: Sealed

    package init(
        id: Int64, kind: SlotKind, parameters: [UInt8], userKeyGeneration: Int64, ephemeral: [UInt8], userKey: Sealed,
        recipient: Sealed
    ) {
        self.id = id
        self.kind = kind
        self.parameters = parameters
        self.userKeyGeneration = userKeyGeneration
        self.ephemeral = ephemeral
        self.userKey = userKey
        self.recipient = recipient
    }
}

/// A device that has unlocked the store.
package struct DeviceRecord: Hashable, Sendable {
    /// The number of the device, from 1. 0 in a ``ClassKeyRecord`` represents "any device".
    package var id: Int64
    /// BLAKE2b-128(device key; store ID), by which a device finds its record.
    package var tag: [UInt8]
    package var mark: DeviceMark

    package init(id: Int64, tag: [UInt8], mark: DeviceMark = .none) {
        self.id = id
        self.tag = tag
        self.mark = mark
    }
}

/// The key under which a class key is wrapped. Raw values are part of the store format.
package enum Wrapping: UInt8, CaseIterable, Hashable, Sendable {
    case userKey = 1
    case deviceKey = 2
    /// A key derived from both.
    case userAndDeviceKey = 3
}

/// The purpose of a wrapped key. Raw values are part of the store format; protection classes have their own numbers.
package enum KeyPurpose: Hashable, Sendable {
    case protection(ProtectionClass)
    /// Tags and names of Always items and of directories that contain one.
    case alwaysLookup

    package init?(rawValue: UInt8) {
        if rawValue == 32 {
            self = .alwaysLookup
        } else if let protection = ProtectionClass(rawValue: rawValue) {
            self = .protection(protection)
        } else {
            return nil
        }
    }

    package var rawValue: UInt8 {
        switch self {
        case .protection(let protection): protection.rawValue
        case .alwaysLookup: 32
        }
    }
}

/// A wrapping of a generation of class keys.
package struct ClassKeyRecord: Hashable, Sendable {
    /// The fields for which there is one record.
    struct Identity: Hashable {
        let purpose: KeyPurpose
        let generation: Int64
        let device: Int64
        let wrapping: Wrapping
    }

    package var purpose: KeyPurpose
    /// The generation, from 1. New rows use the highest one. Unique per purpose across all devices.
    package var generation: Int64
    /// ``DeviceRecord/id``, or 0.
    package var device: Int64
    package var wrapping: Wrapping
    /// The generation of the user key in the wrapping; 0 if none is used.
    package var userKeyGeneration: Int64
    /// A metadata key and a secret key of 32 bytes each; for WhenUnlockedUnlessOpen also an X25519 secret key.
    package var keys: Sealed

    package init(
        purpose: KeyPurpose, generation: Int64, device: Int64, wrapping: Wrapping, userKeyGeneration: Int64,
        keys: Sealed
    ) {
        self.purpose = purpose
        self.generation = generation
        self.device = device
        self.wrapping = wrapping
        self.userKeyGeneration = userKeyGeneration
        self.keys = keys
    }

    var identity: Identity { Identity(purpose: purpose, generation: generation, device: device, wrapping: wrapping) }
}

/// A past user key, sealed under the present one, which a device needs for its own keys when another device has rotated
/// the user key.
package struct UserKeyRecord: Hashable, Sendable {
    /// The generation, from 1, less than the store's.
    package var generation: Int64
    package var key: Sealed

    package init(generation: Int64, key: Sealed) {
        self.generation = generation
        self.key = key
    }
}
