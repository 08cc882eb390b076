package import SecretCrypto

/// A secret that unlocks a keychain: its type, and its bytes in locked memory.
package struct UnlockSecret: ~Copyable, Sendable {
    /// The valid sizes of a key file in bytes. Shorter ones could be guessed, because a guess is fast.
    package static let keyFileCounts = 32...(64 << 10)

    package let kind: SlotKind
    /// The bytes as they pass between processes: the passphrase, the recovery key's characters, the complete key file; for
    /// two secrets the size of the passphrase (4 bytes, little-endian), the passphrase and the key file.
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

    /// Creates a secret from a passphrase and a key file, which open a slot only together.
    ///
    /// - Throws: `param` for a key file that is too short or too long; `allocate`.
    package init(
        passphrase: borrowing SecretBytes, keyFile contents: borrowing SecretBytes
    ) throws(KeychainFault) {
        guard Self.keyFileCounts.contains(contents.count) else { throw .param }
        let size = [UInt8](littleEndian: UInt32(clamping: passphrase.count))
        bytes = try KeychainFault.translating { () throws(CryptoError) in
            var both = try SecretBytes(count: size.count + passphrase.count + contents.count)
            both.copy(size.rawSpan, at: 0)
            both.copy(passphrase.bytes, at: size.count)
            both.copy(contents.bytes, at: size.count + passphrase.count)
            return both
        }
        kind = .passphraseAndKeyFile
    }

    /// Returns the size of the passphrase of two secrets; nil if the bytes are not of two.
    private static func passphraseCount(_ bytes: borrowing SecretBytes) -> Int? {
        guard bytes.count > 4 else { return nil }
        var count = 0
        for index in 0..<4 { count |= Int(bytes.bytes.octets[index]) << (8 * index) }
        return count > 0 && keyFileCounts.contains(bytes.count - 4 - count) ? count : nil
    }

    /// Returns the passphrase and the key file of two secrets.
    ///
    /// - Throws: `invalidParameter` for another secret.
    func parts() throws(CryptoError) -> SecretPair {
        guard kind == .passphraseAndKeyFile, let count = Self.passphraseCount(bytes) else { throw .invalidParameter }
        return SecretPair(
            passphrase: try bytes.slice(4..<4 + count), keyFile: try bytes.slice(4 + count..<bytes.count))
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
        case .passphraseAndKeyFile:
            guard Self.passphraseCount(bytes) != nil else { throw .param }
            self.init(unchecked: bytes, kind)
        case .tpm2, .fido2, .systemdCredential, .plugin, .later: throw .param
        }
    }
}

/// A passphrase and a key file.
struct SecretPair: ~Copyable {
    let passphrase: SecretBytes
    let keyFile: SecretBytes
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
    func fits(_ store: StoreRecord) -> Bool { !kind.hasPassphrase || (salt == store.salt && cost == store.cost) }
}
