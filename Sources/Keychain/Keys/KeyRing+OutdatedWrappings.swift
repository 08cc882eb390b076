import SecretCrypto

/// Rewraps this device's class keys that are wrapped under a past user key. Another device that rotated the user key
/// did not have this device's key, so this device must do that at its next unlock (contract, S3, L5).
extension KeyRing {
    /// Returns such records, wrapped under the present user key. Damaged records stay unchanged.
    func renewed(
        _ records: KeySnapshot, userKey: borrowing SecretBytes, keys: borrowing WrappingKeys
    ) throws(KeychainFault) -> [ClassKeyRecord] {
        var renewed: [ClassKeyRecord] = []
        for record in records.outdated(tag: deviceTag) {
            do throws(KeychainFault) {
                let past = try records.pastUserKey(record.userKeyGeneration, userKey: userKey)
                let pastKeys = try wrappingKeys(userKey: past, generation: record.userKeyGeneration)
                renewed.append(
                    try KeychainFault.translating { () throws(CryptoError) in
                        try keys.rewrap(record, openedBy: pastKeys)
                    })
            } catch .decode {
                continue
            }
        }
        return renewed
    }
}

extension KeySnapshot {
    /// Returns the records of a device under a past user key. Only its own wrappings: an attacker who once knew a user key,
    /// but no device key, must not be able to plant class keys.
    func outdated(tag: [UInt8]) -> [ClassKeyRecord] {
        guard let device = device(tag: tag) else { return [] }
        return classKeys.filter { record in
            record.wrapping == .userAndDeviceKey && record.device == device && record.isLegitimate
                && record.userKeyGeneration < store.userKeyGeneration
        }
    }

    /// Opens a past user key.
    ///
    /// - Throws: `decode` if it does not exist or is not authentic.
    func pastUserKey(_ generation: Int64, userKey: borrowing SecretBytes) throws(KeychainFault) -> SecretBytes {
        guard let record = userKeys.first(where: { $0.generation == generation }) else { throw .decode }
        do throws(CryptoError) {
            return try record.userKey(openedBy: userKey, present: store.userKeyGeneration, store: store.identifier)
        } catch {
            throw KeychainFault(error)
        }
    }

    /// Returns a copy in which these records replace those with the same identity.
    func replacing(_ records: [ClassKeyRecord]) -> KeySnapshot {
        var replaced = self
        for record in records {
            replaced.classKeys = replaced.classKeys.map { $0.identity == record.identity ? record : $0 }
        }
        return replaced
    }
}
