package import SecretCrypto

/// A secret that unlocks a keychain: its type, and its bytes in locked memory.
package struct UnlockSecret: ~Copyable, Sendable {
    /// The valid sizes of a key file in bytes. Shorter ones could be guessed, because a guess is fast.
    package static let keyFileCounts = 32...(64 << 10)

    package let kind: SlotKind
    /// The bytes as they pass between processes: the passphrase, the recovery key's characters, the complete key file.
    package let bytes: SecretBytes

    package init(passphrase: consuming SecretBytes) {
        kind = .passphrase
        bytes = passphrase
    }

    package init(recoveryKey: borrowing RecoveryKey) throws(CryptoError) {
        kind = .recoveryKey
        bytes = try recoveryKey.characters()
    }

    /// Creates a secret from a key file.
    ///
    /// - Throws: `param` for contents that are too short or too long.
    package init(keyFile contents: consuming SecretBytes) throws(KeychainFault) {
        guard Self.keyFileCounts.contains(contents.count) else { throw .param }
        kind = .keyFile
        bytes = contents
    }

    private init(unchecked bytes: consuming SecretBytes, _ kind: SlotKind) {
        self.kind = kind
        self.bytes = bytes
    }

    /// Creates a secret from ``bytes`` of that type.
    ///
    /// - Throws: `param` for a type that cannot be typed or stored in a file.
    package init(kind: SlotKind, bytes: consuming SecretBytes) throws(KeychainFault) {
        switch kind {
        case .passphrase: self.init(passphrase: bytes)
        case .keyFile: try self.init(keyFile: bytes)
        case .recoveryKey: self.init(unchecked: bytes, kind)
        case .tpm2, .fido2, .systemdCredential: throw .param
        }
    }
}

/// The root key of a slot: the key derived from an unlock secret in a store.
package struct SlotRootKey: ~Copyable, Sendable {
    let kind: SlotKind
    let bytes: SecretBytes
    /// The salt with which a passphrase was derived.
    private let salt: [UInt8]
    private let cost: Argon2id.Cost

    init(kind: SlotKind, bytes: consuming SecretBytes, store: StoreRecord) {
        self.kind = kind
        self.bytes = bytes
        (salt, cost) = (store.salt, store.cost)
    }

    /// Whether the secret would still yield this root key.
    func fits(_ store: StoreRecord) -> Bool { kind != .passphrase || (salt == store.salt && cost == store.cost) }
}
