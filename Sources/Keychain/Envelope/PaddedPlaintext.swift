import SecretCrypto

/// The plaintext of sealed metadata: its size (u32 LE), the metadata, and zeros up to a padded size (contract, S2).
enum PaddedPlaintext {
    private static let prefixCount = 4
    /// The range of sizes of a padded plaintext.
    static let counts = 64...Padding.paddedCount(prefixCount + FieldList.maximumCount)

    /// Encodes fields into locked memory.
    ///
    /// - Parameter minimum: The size of a short plaintext in bytes.
    /// - Throws: `attributesTooLarge` if they do not fit into a slab.
    static func encode(_ fields: FieldList, minimum: Int = 0) throws(KeychainFault) -> SecretBytes {
        let count = fields.byteCount
        guard count <= FieldList.maximumCount else { throw .attributesTooLarge }
        do throws(CryptoError) {
            var plaintext = try SecretBytes(count: max(minimum, Padding.paddedCount(prefixCount + count)))
            var output = plaintext.mutableBytes
            let offset = output.write([UInt8](littleEndian: UInt32(count)).rawSpan)
            var body = output._mutatingExtracting(offset..<offset + count)
            fields.encode(into: &body)
            return plaintext
        } catch {
            throw KeychainFault(error)
        }
    }

    /// Decodes the fields.
    ///
    /// - Throws: `decode` unless every byte, including the padding, is as `encode` writes it.
    static func decode(_ plaintext: RawSpan, minimum: Int = 0) throws(KeychainFault) -> FieldList {
        let octets = plaintext.octets
        guard octets.count >= prefixCount else { throw .decode }
        var count = 0
        for index in 0..<prefixCount { count |= Int(octets[index]) << (8 * index) }
        let end = prefixCount + count
        guard count <= FieldList.maximumCount, end <= octets.count,
            octets.count == max(minimum, Padding.paddedCount(end))
        else {
            throw .decode
        }
        guard plaintext.extracting(end..<octets.count).isZero else { throw .decode }
        return try FieldList(parsing: plaintext.extracting(prefixCount..<end))
    }
}
