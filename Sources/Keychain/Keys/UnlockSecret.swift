package import SecretCrypto

/// What somebody unlocks a keychain with: its kind, and its bytes in locked memory.
package struct UnlockSecret: ~Copyable, Sendable {
    /// Bytes of a key file: shorter ones can be guessed, because nothing slows a guess down.
    package static let keyFileCounts = 32...(64 << 10)

    package let kind: SlotKind
    /// As they are handed from process to process: the passphrase, the recovery key's characters, all of the key file.
    package let bytes: SecretBytes

    package init(passphrase: consuming SecretBytes) {
        kind = .passphrase
        bytes = passphrase
    }

    package init(recoveryKey: borrowing RecoveryKey) throws(CryptoError) {
        kind = .recoveryKey
        bytes = try recoveryKey.characters()
    }

    /// `param` for contents that are too short or too long.
    package init(keyFile contents: consuming SecretBytes) throws(KeychainFault) {
        guard Self.keyFileCounts.contains(contents.count) else { throw .param }
        kind = .keyFile
        bytes = contents
    }

    private init(unchecked bytes: consuming SecretBytes, _ kind: SlotKind) {
        self.kind = kind
        self.bytes = bytes
    }

    /// As ``bytes`` of one that was of that kind; `param` for a kind that nobody can type or hold in a file.
    package init(kind: SlotKind, bytes: consuming SecretBytes) throws(KeychainFault) {
        switch kind {
        case .passphrase: self.init(passphrase: bytes)
        case .keyFile: try self.init(keyFile: bytes)
        case .recoveryKey: self.init(unchecked: bytes, kind)
        case .tpm2, .fido2, .systemdCredential: throw .param
        }
    }
}

/// What an unlock secret yields in a store: the root of the keys of its slot.
package struct SlotRootKey: ~Copyable, Sendable {
    let kind: SlotKind
    let bytes: SecretBytes
    /// What a passphrase was derived with.
    private let salt: [UInt8]
    private let cost: Argon2id.Cost

    init(kind: SlotKind, bytes: consuming SecretBytes, store: StoreRecord) {
        self.kind = kind
        self.bytes = bytes
        (salt, cost) = (store.salt, store.cost)
    }

    /// Whether it is still the root that the secret yields.
    func fits(_ store: StoreRecord) -> Bool { kind != .passphrase || (salt == store.salt && cost == store.cost) }
}
