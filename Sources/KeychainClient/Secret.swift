package import SecretCrypto

/// A secret: a password, a token, or any other bytes. It is in locked memory, which is never swapped out or part of a
/// core dump, and is wiped when the value ends.
///
/// It has no description, no `Codable` conformance and no implicit copies. The functions below are the only ways to its
/// bytes.
public struct Secret: ~Copyable, Sendable {
    package let bytes: SecretBytes

    package init(_ bytes: consuming SecretBytes) {
        self.bytes = bytes
    }

    /// Copies the UTF-8 of a text. The text itself is not wiped.
    ///
    /// - Throws: ``KeychainError/outOfMemory`` if the locked memory is exhausted: 4 MiB for all secrets of the process.
    public init(_ text: String) throws(KeychainError) {
        try self.init(copying: Array(text.utf8).rawSpan)
    }

    /// Copies bytes. The caller wipes its own.
    public init(copying bytes: RawSpan) throws(KeychainError) {
        self.init(try Self.allocating { () throws(CryptoError) in try SecretBytes(copying: bytes) })
    }

    /// Creates a secret from that many bytes of the kernel's random generator.
    public init(randomCount: Int) throws(KeychainError) {
        self.init(try Self.allocating { () throws(CryptoError) in try SecretBytes(randomCount: randomCount) })
    }

    /// The number of bytes.
    public var count: Int { bytes.count }

    /// Calls `body` with the bytes, which are valid only during the call.
    public func withBytes<Result: ~Copyable, Failure>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(bytes.bytes)
    }

    /// Returns a copy as text, or nil if the bytes are not UTF-8. The copy is in ordinary memory and is not wiped: use
    /// it only for APIs that require it.
    public func text() -> String? {
        String(validating: [UInt8](copying: bytes.bytes), as: UTF8.self)
    }

    /// Returns whether both contain the same bytes, in a time that depends only on their number.
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
