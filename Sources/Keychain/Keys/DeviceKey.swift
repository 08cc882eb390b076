package import SecretCrypto

/// The source of the device key: 32 random bytes that stay on this machine.
package protocol DeviceKeyProvider: Sendable {
    func deviceKey() throws(KeychainFault) -> SecretBytes
}

/// Values derived from a device key.
package enum DeviceKey {
    /// The size of a device key in bytes.
    package static let byteCount = 32
    /// The size of ``DeviceRecord/tag`` in bytes.
    package static let tagCount = 16

    /// The tag by which a device finds its record: BLAKE2b-128(device key; store ID). Meaningless without the key.
    package static func tag(
        _ key: borrowing SecretBytes, store: [UInt8]
    ) throws(CryptoError) -> [UInt8] {
        try BLAKE2b.mac(key: key, parts: [KeyLabel.deviceTag, store], count: tagCount)
    }
}
