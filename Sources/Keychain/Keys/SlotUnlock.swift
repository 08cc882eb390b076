package import SecretCrypto

extension Argon2id.Cost {
    /// Whether a store may require this cost. Debug builds accept less than the minimum, for tests.
    package var isAllowed: Bool {
        #if DEBUG
        isAcceptable
        #else
        isAcceptable && meetsFloor
        #endif
    }
}

/// Opens the user key with an unlock secret.
enum SlotUnlock {
    /// Derives the root key that all slots of the secret's type share.
    ///
    /// - Throws: The errors of ``root(passphrase:store:)``; `authFailed` for a type that this version cannot open.
    static func root(of secret: borrowing UnlockSecret, store: StoreRecord) throws(KeychainFault) -> SlotRootKey {
        let bytes: SecretBytes
        switch secret.kind {
        case .passphrase: bytes = try root(passphrase: secret.bytes, store: store)
        case .recoveryKey: bytes = try root(KeyLabel.recoveryKey, secret.bytes, store)
        case .keyFile: bytes = try root(KeyLabel.keyFile, secret.bytes, store)
        case .passphraseAndKeyFile: bytes = try root(ofBoth: secret, store: store)
        case .tpm2, .fido2, .systemdCredential, .plugin, .later: throw .authFailed
        }
        return SlotRootKey(kind: secret.kind, bytes: bytes, store: store)
    }

    /// BLAKE2b(root key of the passphrase; label, store ID, key file).
    private static func root(
        ofBoth secret: borrowing UnlockSecret, store: StoreRecord
    ) throws(KeychainFault) -> SecretBytes {
        let parts = try KeychainFault.translating { () throws(CryptoError) in try secret.parts() }
        let key = try root(passphrase: parts.passphrase, store: store)
        do throws(CryptoError) {
            return try BLAKE2b.derive(
                key: key, parts: [KeyLabel.twoSecrets, store.identifier], secret: parts.keyFile,
                count: SlotSecret.rootCount)
        } catch {
            throw KeychainFault(error)
        }
    }

    /// BLAKE2b(store ID; label, secret). A fast hash, so the secret must not be guessable.
    private static func root(
        _ label: [UInt8], _ secret: borrowing SecretBytes, _ store: StoreRecord
    ) throws(KeychainFault) -> SecretBytes {
        do throws(CryptoError) {
            let key = try SecretBytes(copying: store.identifier.rawSpan)
            return try BLAKE2b.derive(key: key, label: label, secret: secret, parts: [], count: SlotSecret.rootCount)
        } catch {
            throw KeychainFault(error)
        }
    }

    /// Derives the root key of all passphrase slots of a store: one Argon2id (contract, L5).
    ///
    /// - Throws: `unacceptableCost` before anything is derived; `allocate` if its memory is not available.
    static func root(passphrase: borrowing SecretBytes, store: StoreRecord) throws(KeychainFault) -> SecretBytes {
        guard store.cost.isAllowed else { throw .unacceptableCost }
        do throws(CryptoError) {
            return try Argon2id.derive(
                passphrase: passphrase, salt: store.salt, cost: store.cost, count: SlotSecret.rootCount)
        } catch {
            throw KeychainFault(error)
        }
    }

    /// Returns the user key of the first slot of that type that the root key opens, and that opens the master keys.
    ///
    /// - Throws: `authFailed` if the root key opens no slot: a wrong secret and a damaged slot are not distinguished;
    ///   `decode` if the master keys do not open with the user key of any of these slots.
    static func userKey(
        root: borrowing SecretBytes, kind: SlotKind, slots: [SlotRecord], store: StoreRecord
    ) throws(KeychainFault) -> SecretBytes {
        let slot = try opened(root: root, kind: kind, slots: slots, store: store)
        return slot.userKey
    }

    /// Returns the user key, and the number of the slot that it was opened with.
    static func opened(
        root: borrowing SecretBytes, kind: SlotKind, slots: [SlotRecord], store: StoreRecord
    ) throws(KeychainFault) -> OpenedSlot {
        var hasOpened = false
        for slot in slots where slot.kind == kind && slot.userKeyGeneration == store.userKeyGeneration {
            do throws(CryptoError) {
                let secret = try SlotSecret(root: root, store: store.identifier, slot: slot.id)
                let userKey = try slot.userKey(with: secret, store: store.identifier)
                hasOpened = true
                _ = try MasterKeyMaterial(opening: store, userKey: userKey).count
                return OpenedSlot(id: slot.id, userKey: userKey)
            } catch {
                // A public key of a wrong size is a damage, too.
                guard error == .authenticationFailed || error == .invalidParameter else {
                    throw KeychainFault(error)
                }
            }
        }
        throw hasOpened ? .decode : .authFailed
    }
}

/// A slot and the user key that it contains.
struct OpenedSlot: ~Copyable {
    let id: Int64
    let userKey: SecretBytes
}
