import SecretCrypto

/// Copies an input into locked memory, as the contents of an item.
func secret(_ bytes: [UInt8]) throws -> SecretBytes {
    var secret = try SecretBytes(count: bytes.count)
    for (index, byte) in bytes.enumerated() { secret.set(byte, at: index) }
    return secret
}
