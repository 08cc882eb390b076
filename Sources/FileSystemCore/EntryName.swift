/// The name of a directory entry: bytes, not text, as the kernel has it.
///
/// Never empty, never longer than ``maximumLength``, and without `/` and NUL. `.` and `..` are names like any other
/// here: the kernel resolves them before it asks.
public struct EntryName: Hashable, Sendable {
    /// The longest name, in bytes; the corresponding C constant is `NAME_MAX`.
    public static let maximumLength = 255

    /// The bytes of the name, without a terminating NUL.
    public let bytes: [UInt8]

    /// Returns nil for an empty or too long name, or one that holds `/` or NUL.
    public init?(_ bytes: [UInt8]) {
        guard !bytes.isEmpty, bytes.count <= Self.maximumLength else { return nil }
        guard bytes.allSatisfy({ $0 != 0 && $0 != UInt8(ascii: "/") }) else { return nil }
        self.bytes = bytes
    }

    /// The UTF-8 of `text`, under the same conditions.
    public init?(_ text: String) {
        self.init(Array(text.utf8))
    }

    /// The name as text; bytes that are no UTF-8 are replaced.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}
