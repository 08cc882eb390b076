import SecretCrypto

/// Class keys of this device that lie under a past user key: who rotated it on another device lacked this device's key,
/// so it is for this one to bring them under the present user key, at its next unlock (contract, S3, L5).
extension KeyRing {
    /// Such records, sealed anew; what does not open stays as it is.
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
    /// What a device has under a past user key. Its own wrappings only: who once knew a user key, but no device key, must
    /// not be able to plant class keys.
    func outdated(tag: [UInt8]) -> [ClassKeyRecord] {
        guard let device = device(tag: tag) else { return [] }
        return classKeys.filter { record in
            record.wrapping == .userAndDeviceKey && record.device == device && record.isLegitimate
                && record.userKeyGeneration < store.userKeyGeneration
        }
    }

    /// - Throws: `decode` if there is no such key, or it is not what was sealed.
    func pastUserKey(_ generation: Int64, userKey: borrowing SecretBytes) throws(KeychainFault) -> SecretBytes {
        guard let record = userKeys.first(where: { $0.generation == generation }) else { throw .decode }
        do throws(CryptoError) {
            return try record.userKey(openedBy: userKey, present: store.userKeyGeneration, store: store.identifier)
        } catch {
            throw KeychainFault(error)
        }
    }

    /// With these instead of the records of the same places.
    func replacing(_ records: [ClassKeyRecord]) -> KeySnapshot {
        var replaced = self
        for record in records {
            replaced.classKeys = replaced.classKeys.map { $0.identity == record.identity ? record : $0 }
        }
        return replaced
    }
}
