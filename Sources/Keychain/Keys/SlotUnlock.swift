package import SecretCrypto

extension Argon2id.Cost {
    /// Whether a store may ask for it. Debug builds take cheaper ones than the floor, for tests.
    package var isAllowed: Bool {
        #if DEBUG
        isAcceptable
        #else
        isAcceptable && meetsFloor
        #endif
    }
}

/// The way from an unlock secret to the user key.
enum SlotUnlock {
    /// The root that all slots of the secret's kind have in common.
    ///
    /// - Throws: as ``root(passphrase:store:)``; `authFailed` for a kind that this version cannot open.
    static func root(of secret: borrowing UnlockSecret, store: StoreRecord) throws(KeychainFault) -> SlotRootKey {
        let bytes: SecretBytes
        switch secret.kind {
        case .passphrase: bytes = try root(passphrase: secret.bytes, store: store)
        case .recoveryKey: bytes = try root(KeyLabel.recoveryKey, secret.bytes, store)
        case .keyFile: bytes = try root(KeyLabel.keyFile, secret.bytes, store)
        case .tpm2, .fido2, .systemdCredential: throw .authFailed
        }
        return SlotRootKey(kind: secret.kind, bytes: bytes, store: store)
    }

    /// BLAKE2b(store id; what for, secret): nothing slows it down, so the secret must not be one that can be guessed.
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

    /// The root secret of all passphrase slots of a store: one Argon2id (contract, L5).
    ///
    /// - Throws: `unacceptableCost` before anything is derived, `allocate` if there is no memory for it.
    static func root(passphrase: borrowing SecretBytes, store: StoreRecord) throws(KeychainFault) -> SecretBytes {
        guard store.cost.isAllowed else { throw .unacceptableCost }
        do throws(CryptoError) {
            return try Argon2id.derive(
                passphrase: passphrase, salt: store.salt, cost: store.cost, count: SlotSecret.rootCount)
        } catch {
            throw KeychainFault(error)
        }
    }

    /// The user key from the first slot of that kind which the root opens, and which opens the master keys.
    ///
    /// - Throws: `authFailed` if there is none. A wrong secret, a damaged slot, damaged master keys and a slot that an attacker has
    ///   written, which leads to another user key, are not distinguished.
    static func userKey(
        root: borrowing SecretBytes, kind: SlotKind, slots: [SlotRecord], store: StoreRecord
    ) throws(KeychainFault) -> SecretBytes {
        for slot in slots where slot.kind == kind && slot.userKeyGeneration == store.userKeyGeneration {
            do throws(CryptoError) {
                let secret = try SlotSecret(root: root, store: store.identifier, slot: slot.id)
                let userKey = try slot.userKey(with: secret, store: store.identifier)
                _ = try MasterKeys.material(store, userKey: userKey).count
                return userKey
            } catch {
                // A public key of a wrong size is damage too.
                guard error == .authenticationFailed || error == .invalidParameter else {
                    throw KeychainFault(error)
                }
            }
        }
        throw .authFailed
    }
}
