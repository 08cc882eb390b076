/// Encodings of dates, file attributes and attribute values with fixed layouts in little-endian order.
extension KeychainDate {
    /// Seconds (i64), nanoseconds (u32): 12 bytes.
    ///
    /// - Throws: `param` for nanoseconds out of range.
    func encoded() throws(KeychainFault) -> [UInt8] {
        guard (0..<1_000_000_000).contains(nanoseconds) else { throw .param }
        var bytes = [UInt8](littleEndian: seconds)
        bytes.append(littleEndian: nanoseconds)
        return bytes
    }

    init(from reader: inout ByteReader) throws(KeychainFault) {
        self.init(seconds: try reader.integer(), nanoseconds: try reader.integer())
        guard (0..<1_000_000_000).contains(nanoseconds) else { throw .decode }
    }

    init(decoding bytes: ArraySlice<UInt8>) throws(KeychainFault) {
        var reader = ByteReader(bytes)
        try self.init(from: &reader)
        try reader.finish()
    }
}

extension PosixAttributes {
    /// Inode (u64), permissions, user, group (u32 each), modification and access time: 44 bytes.
    func encoded() throws(KeychainFault) -> [UInt8] {
        guard isValid else { throw .param }
        var bytes = [UInt8](littleEndian: inode)
        for number in [permissions, userID, groupID] { bytes.append(littleEndian: number) }
        return try bytes + modificationTime.encoded() + accessTime.encoded()
    }

    init(decoding bytes: ArraySlice<UInt8>) throws(KeychainFault) {
        var reader = ByteReader(bytes)
        self.init(
            inode: try reader.integer(), permissions: try reader.integer(), userID: try reader.integer(),
            groupID: try reader.integer(), modificationTime: try KeychainDate(from: &reader),
            accessTime: try KeychainDate(from: &reader))
        try reader.finish()
        guard isValid else { throw .decode }
    }

    private var isValid: Bool { permissions & ~0o7777 == 0 }
}

extension AttributeValue {
    private enum Kind: UInt8 {
        case text = 1
        case data = 2
        case number = 3
        case date = 4
    }

    /// Type (1 byte), then the bytes, the number (i64) or the date.
    func encoded() throws(KeychainFault) -> [UInt8] {
        switch self {
        case .text(let bytes) where !Self.isValidUTF8(bytes): throw .param
        case .text(let bytes): [Kind.text.rawValue] + bytes
        case .data(let bytes): [Kind.data.rawValue] + bytes
        case .number(let number): [Kind.number.rawValue] + [UInt8](littleEndian: number)
        case .date(let date): try [Kind.date.rawValue] + date.encoded()
        }
    }

    init(decoding bytes: ArraySlice<UInt8>) throws(KeychainFault) {
        var reader = ByteReader(bytes)
        guard let kind = Kind(rawValue: try reader.integer()) else { throw .decode }
        switch kind {
        case .text:
            let text = reader.rest()
            guard Self.isValidUTF8(text) else { throw .decode }
            self = .text(text)
        case .data: self = .data(reader.rest())
        case .number: self = .number(try reader.integer())
        case .date: self = .date(try KeychainDate(from: &reader))
        }
        try reader.finish()
    }

    /// The number of bytes that count towards the limit of an item's attributes.
    var payloadCount: Int {
        switch self {
        case .text(let bytes), .data(let bytes): bytes.count
        case .number: 8
        case .date: 12
        }
    }
}
