/// A message of the kernel, before libfuse decodes it (linux/fuse.h).
struct Message: ~Escapable {
    /// The size of `struct fuse_in_header` in bytes.
    static let headerSize = 40

    private let bytes: RawSpan

    /// - Precondition: At least ``headerSize`` bytes; otherwise nil.
    @_lifetime(copy bytes)
    init?(_ bytes: RawSpan) {
        guard bytes.byteCount >= Self.headerSize else { return nil }
        self.bytes = bytes
    }

    var length: UInt32 { bytes.number(at: 0) }
    /// The opcode; nil if this module does not know it.
    var opcode: Opcode? { Opcode(rawValue: bytes.number(at: 4)) }
    /// The identifier that the reply must contain.
    var unique: UInt64 { UInt64(bytes.number(at: 8)) | UInt64(bytes.number(at: 12)) << 32 }

    /// Whether the message contains all parts that libfuse will read.
    var isComplete: Bool {
        guard Int(length) == bytes.byteCount else { return false }
        guard let opcode else { return true }
        return MessageLayout(opcode).fits(bytes.extracting(droppingFirst: Self.headerSize))
    }

    /// The lock owner of a SETATTR, which `do_setattr` of libfuse 3.14 drops; nil without one.
    ///
    /// `struct fuse_setattr_in`: valid 0, lock_owner 24; FATTR_LOCKOWNER is bit 9.
    var setattrLockOwner: UInt64? {
        guard opcode == .setattr, bytes.byteCount >= Self.headerSize + 32 else { return nil }
        guard bytes.number(at: Self.headerSize) & (1 << 9) != 0 else { return nil }
        let low = UInt64(bytes.number(at: Self.headerSize + 24))
        return low | UInt64(bytes.number(at: Self.headerSize + 28)) << 32
    }
}

extension RawSpan {
    /// Returns the byte at an offset below `byteCount`.
    func byte(at offset: Int) -> UInt8 {
        unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }

    /// Returns the 32-bit number in native byte order at an offset of at most `byteCount - 4`.
    func number(at offset: Int) -> UInt32 {
        unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)
    }
}
