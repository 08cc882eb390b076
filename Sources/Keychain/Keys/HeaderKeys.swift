package import SecretCrypto

/// The keys that authenticate the state of a store: its header, its row digests, and the file in which a device keeps the
/// last state that it has seen.
///
/// Derived from the user key of one generation, so the holder of a removed slot does not know those of later generations.
/// Kept from the unlock or the rotation until the daemon exits.
package final class HeaderKeys: Sendable {
    /// The generation of the user key.
    package let generation: Int64
    package let header: RevocableSecret
    package let rowDigest: RevocableSecret
    package let deviceFile: RevocableSecret

    init(generation: Int64, header: RevocableSecret, rowDigest: RevocableSecret, deviceFile: RevocableSecret) {
        self.generation = generation
        (self.header, self.rowDigest, self.deviceFile) = (header, rowDigest, deviceFile)
    }

    /// Derives the keys from the user key of that generation.
    convenience init(userKey: borrowing SecretBytes, generation: Int64, store: [UInt8]) throws(CryptoError) {
        let address = [store, [UInt8](littleEndian: generation)]
        self.init(
            generation: generation,
            header: RevocableSecret(try BLAKE2b.derive(key: userKey, parts: [KeyLabel.header] + address)),
            rowDigest: RevocableSecret(try BLAKE2b.derive(key: userKey, parts: [KeyLabel.rowDigest] + address)),
            deviceFile: RevocableSecret(try BLAKE2b.derive(key: userKey, parts: [KeyLabel.deviceFile] + address)))
    }

    /// Wipes the keys. Returns when no thread uses them.
    func revoke() { for key in [header, rowDigest, deviceFile] { key.revoke() } }
}
