package import SecretCrypto

/// A secret: a password, a token, any bytes. In locked memory that is never swapped out nor part of a core dump, and wiped
/// when the value ends.
///
/// No description, no `Codable`, no implicit copy. What leaves it, leaves through one of its functions.
public struct Secret: ~Copyable, Sendable {
    package let bytes: SecretBytes

    package init(_ bytes: consuming SecretBytes) {
        self.bytes = bytes
    }

    /// A copy of a text's UTF-8. Nobody wipes the text.
    ///
    /// Throws ``KeychainError/outOfMemory`` when the locked memory is used up: 4 MiB for all secrets of the process.
    public init(_ text: String) throws(KeychainError) {
        try self.init(copying: Array(text.utf8).rawSpan)
    }

    /// A copy of bytes, which are the caller's to wipe.
    public init(copying bytes: RawSpan) throws(KeychainError) {
        self.init(try Self.allocating { () throws(CryptoError) in try SecretBytes(copying: bytes) })
    }

    /// That many bytes of the kernel's random generator.
    public init(randomCount: Int) throws(KeychainError) {
        self.init(try Self.allocating { () throws(CryptoError) in try SecretBytes(randomCount: randomCount) })
    }

    /// How many bytes it has.
    public var count: Int { bytes.count }

    /// Runs `body` with the bytes, which are valid there alone.
    public func withBytes<Result: ~Copyable, Failure>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(bytes.bytes)
    }

    /// A copy as text; nil if the bytes are not UTF-8. The copy lies in ordinary memory, and nobody wipes it: for APIs that
    /// take nothing else.
    public func text() -> String? {
        String(validating: [UInt8](copying: bytes.bytes), as: UTF8.self)
    }

    /// Whether both hold the same bytes, in a time that depends on their number alone.
    public func isEqual(to other: borrowing Secret) -> Bool { bytes.isEqual(to: other.bytes) }

    static func empty() throws(KeychainError) -> Secret {
        try Secret(copying: [UInt8]().rawSpan)
    }

    private static func allocating(
        _ body: () throws(CryptoError) -> SecretBytes
    ) throws(KeychainError) -> SecretBytes {
        do { return try body() } catch { throw error == .invalidParameter ? .invalidParameter : .outOfMemory }
    }
}
