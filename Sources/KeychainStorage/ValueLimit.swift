internal import Keychain
internal import SecretCrypto

/// The maximum sizes of values in bytes. SQLite learns a value's size before it reads the value, and allocates no memory for a
/// longer one (store-format.md, R4 to R6).
enum ValueLimit {
    /// A column of a row of keys.
    static let key = 4096
    /// Any column but contents: the seals of the chunks of the longest contents.
    static let column = SecretChunks.count(for: MetadataCodec.maximumSecret) * ChunkSeals.sealCount
    /// A row, and the ciphertext of contents.
    static let row = MetadataCodec.maximumSecret + (1 << 20)

    /// Returns an expression for a column of bytes: NULL if it is longer, or of another type. The row is then malformed, but
    /// the query returns the other rows.
    static func bounded(_ column: String, to longest: Int = key) -> String {
        "CASE WHEN typeof(\(column)) = 'blob' AND length(\(column)) <= \(longest) THEN \(column) END"
    }
}
