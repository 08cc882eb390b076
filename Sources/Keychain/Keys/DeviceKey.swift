package import SecretCrypto

/// Whence the device key comes: 32 random bytes that stay on this machine (later in its TPM).
package protocol DeviceKeyProvider: Sendable {
    func deviceKey() throws(KeychainFault) -> SecretBytes
}

/// What follows from a device key.
package enum DeviceKey {
    /// Bytes of a device key.
    package static let byteCount = 32
    /// Bytes of ``DeviceRecord/tag``.
    package static let tagCount = 16

    /// How a device finds its record: BLAKE2b-128(device key; store id). Says nothing to who lacks the key.
    package static func tag(
        _ key: borrowing SecretBytes, store: [UInt8]
    ) throws(CryptoError) -> [UInt8] {
        try BLAKE2b.mac(key: key, parts: [KeyLabel.deviceTag, store], count: tagCount)
    }
}
