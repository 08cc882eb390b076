/// The first byte of an object in a `bplist00`, with the type in the upper four bits.
enum BinaryMarker {
    static let null: UInt8 = 0x00
    static let falsity: UInt8 = 0x08
    static let truth: UInt8 = 0x09
    /// The lower bits are the logarithm of the number's width.
    static let integer: UInt8 = 0x10
    static let real: UInt8 = 0x20
    static let date: UInt8 = 0x33
    static let data: UInt8 = 0x40
    static let ascii: UInt8 = 0x50
    /// UTF-16, big-endian; the count is of code units.
    static let unicode: UInt8 = 0x60
    /// The lower bits are the number's width minus one.
    static let uid: UInt8 = 0x80
    static let array: UInt8 = 0xA0
    static let dictionary: UInt8 = 0xD0

    static let kind: UInt8 = 0xF0
    static let low: UInt8 = 0x0F
    /// Replaces a count, which follows as an integer.
    static let countFollows: UInt8 = 0x0F
}

/// The last 32 bytes of a `bplist00`.
struct BinaryTrailer: Hashable, Sendable {
    static let magic = Array("bplist00".utf8)
    static let byteCount = 32

    /// The width of an entry of the offset table in bytes.
    let offsetWidth: Int
    /// The width of a reference in bytes.
    let referenceWidth: Int
    let objectCount: Int
    let top: Int
    /// The start of the offset table, which is the end of the objects.
    let tableOffset: Int
}
