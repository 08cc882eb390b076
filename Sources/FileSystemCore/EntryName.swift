/// The name of a directory entry, as bytes.
///
/// Not empty, at most ``maximumLength`` bytes, without `/` and NUL. `.` and `..` are valid; the kernel resolves them
/// before it sends a request.
public struct EntryName: Hashable, Sendable {
    /// The maximum length in bytes (`NAME_MAX`).
    public static let maximumLength = 255

    /// The bytes of the name, without a terminating NUL.
    public let bytes: [UInt8]

    /// Creates a name; nil if the bytes are empty, too long, or contain `/` or NUL.
    public init?(_ bytes: [UInt8]) {
        guard !bytes.isEmpty, bytes.count <= Self.maximumLength else { return nil }
        guard bytes.allSatisfy({ $0 != 0 && $0 != UInt8(ascii: "/") }) else { return nil }
        self.bytes = bytes
    }

    /// Creates a name from UTF-8 text; nil under the same conditions as for bytes.
    public init?(_ text: String) {
        self.init(Array(text.utf8))
    }

    /// The name as text, with replacement characters for bytes that are not UTF-8.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}
