package import SecretCrypto

/// The one row that describes the store. Readable: everything but the sealed members.
package struct StoreRecord: Hashable, Sendable {
    /// The format version.
    package var format: Int
    /// 16 random bytes that no other store has; part of every record's associated data.
    package var identifier: [UInt8]
    /// All passphrase slots share salt (16 bytes) and cost.
    package var salt: [UInt8]
    package var cost: Argon2id.Cost
    package var userKeyGeneration: Int64
    /// The highest among the items and directories that are gone, so that no number comes back.
    package var highestRow: RowID
    /// Look-up, directory, digest and row-MAC keys, under the user key.
    package var masterKeys: Sealed
    /// The header row (commit number, row count, digest), under the digest key.
    package var header: Sealed

    package init(
        format: Int, identifier: [UInt8], salt: [UInt8], cost: Argon2id.Cost, userKeyGeneration: Int64,
        highestRow: RowID = .none, masterKeys: Sealed, header: Sealed
    ) {
        self.format = format
        self.identifier = identifier
        self.salt = salt
        self.cost = cost
        self.userKeyGeneration = userKeyGeneration
        self.highestRow = highestRow
        self.masterKeys = masterKeys
        self.header = header
    }
}

/// How a slot's secret is come by. Raw values are part of the store format.
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
}

/// One way to the user key: an X25519 recipient of it.
package struct SlotRecord: Hashable, Sendable {
    package var id: Int64
    package var kind: SlotKind
    /// What a reserved kind needs beside the secret; empty for the others.
    package var parameters: [UInt8]
    package var userKeyGeneration: Int64
    /// The public half of the pair that wrapped the user key (32 bytes).
    package var ephemeral: [UInt8]
    /// The user key, under the key that both sides derive.
    package var userKey: Sealed
    /// The slot's public key and MAC key, under the user key: what a rotation wraps for.
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
    /// From 1; 0 in a ``ClassKeyRecord`` stands for "any device".
    package var id: Int64
    /// BLAKE2b-128(device key; store id): how a device finds its record.
    package var tag: [UInt8]

    package init(id: Int64, tag: [UInt8]) {
        self.id = id
        self.tag = tag
    }
}

/// What a class key is wrapped under. Raw values are part of the store format.
package enum Wrapping: UInt8, CaseIterable, Hashable, Sendable {
    case userKey = 1
    case deviceKey = 2
    /// A key from both together.
    case userAndDeviceKey = 3
}

/// What a wrapped key is for. Raw values are part of the store format; protection classes have their own numbers.
package enum KeyPurpose: Hashable, Sendable {
    case protection(ProtectionClass)
    /// Tags and names of Always items and of directories that hold one.
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

/// One wrapping of one generation of a class's keys.
package struct ClassKeyRecord: Hashable, Sendable {
    /// What there is one record for.
    struct Identity: Hashable {
        let purpose: KeyPurpose
        let generation: Int64
        let device: Int64
        let wrapping: Wrapping
    }

    package var purpose: KeyPurpose
    /// From 1; new rows use the highest. Unique per purpose over all devices.
    package var generation: Int64
    /// ``DeviceRecord/id``, or 0.
    package var device: Int64
    package var wrapping: Wrapping
    /// Of the user key that it is wrapped under; 0 where none is part of the wrapping.
    package var userKeyGeneration: Int64
    /// A metadata key and a secret key of 32 bytes each; for WhenUnlockedUnlessOpen an X25519 secret key besides.
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

/// A user key of the past, under the present one: what a device still needs for its own keys when another device has
/// rotated the user key.
package struct UserKeyRecord: Hashable, Sendable {
    /// From 1, less than the store's.
    package var generation: Int64
    package var key: Sealed

    package init(generation: Int64, key: Sealed) {
        self.generation = generation
        self.key = key
    }
}
