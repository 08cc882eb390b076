/// The first byte of an object in a `bplist00`: the kind in the upper four bits.
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
    /// The lower bits are the number's width less one.
    static let uid: UInt8 = 0x80
    static let array: UInt8 = 0xA0
    static let dictionary: UInt8 = 0xD0

    static let kind: UInt8 = 0xF0
    static let low: UInt8 = 0x0F
    /// In place of a count: it follows as an integer.
    static let countFollows: UInt8 = 0x0F
}

/// The last 32 bytes of a `bplist00`.
struct BinaryTrailer: Hashable, Sendable {
    static let magic = Array("bplist00".utf8)
    static let byteCount = 32

    /// Bytes of an entry of the offset table.
    let offsetWidth: Int
    /// Bytes of a reference.
    let referenceWidth: Int
    let objectCount: Int
    let top: Int
    /// Where the offset table begins, and the objects end.
    let tableOffset: Int
}
