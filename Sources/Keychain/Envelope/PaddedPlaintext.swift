import SecretCrypto

/// Metadata as it is sealed: its count (u32 LE), the metadata, zeros up to a padded size (contract, S2).
enum PaddedPlaintext {
    private static let prefixCount = 4
    /// Sizes that a padded plaintext can have.
    static let counts = 64...Padding.paddedCount(prefixCount + FieldList.maximumCount)

    /// Encodes into locked memory; `attributesTooLarge` beyond what a slab takes.
    static func encode(_ fields: FieldList) throws(KeychainFault) -> SecretBytes {
        let count = fields.byteCount
        guard count <= FieldList.maximumCount else { throw .attributesTooLarge }
        do throws(CryptoError) {
            var plaintext = try SecretBytes(count: Padding.paddedCount(prefixCount + count))
            var output = plaintext.mutableBytes
            let offset = output.write([UInt8](littleEndian: UInt32(count)).rawSpan)
            var body = output._mutatingExtracting(offset..<offset + count)
            fields.encode(into: &body)
            return plaintext
        } catch {
            throw KeychainFault(error)
        }
    }

    /// The fields; `decode` unless every byte, padding included, is as `encode` writes it.
    static func decode(_ plaintext: RawSpan) throws(KeychainFault) -> FieldList {
        let octets = plaintext.octets
        guard octets.count >= prefixCount else { throw .decode }
        var count = 0
        for index in 0..<prefixCount { count |= Int(octets[index]) << (8 * index) }
        let end = prefixCount + count
        guard count <= FieldList.maximumCount, end <= octets.count, octets.count == Padding.paddedCount(end) else {
            throw .decode
        }
        for index in end..<octets.count where octets[index] != 0 { throw .decode }
        return try FieldList(parsing: plaintext.extracting(prefixCount..<end))
    }
}
