import SecretCrypto

/// The canonical format of metadata: a version byte, then fields `[tag u8][count u32 LE][value]` with strictly
/// ascending tags. A parsed list encodes to the same bytes.
struct FieldList {
    /// The version byte.
    static let version: UInt8 = 1
    /// The maximum size of a list in bytes, which must fit into one slab of locked memory.
    static let maximumCount = 120 << 10

    /// The fields. After parsing, the values are slices of one array.
    private(set) var fields: [(tag: UInt8, value: ArraySlice<UInt8>)] = []
    private var position = 0

    /// Creates an empty list, to which fields are added in the order of their tags.
    init() {}

    /// The size of the encoded list in bytes.
    var byteCount: Int { fields.reduce(1) { $0 + 5 + $1.value.count } }

    mutating func add(_ tag: UInt8, _ value: [UInt8]) { fields.append((tag, value[...])) }

    /// Adds a field, unless the value is nil.
    mutating func add(_ tag: UInt8, optional value: [UInt8]?) {
        if let value { add(tag, value) }
    }

    /// Adds the fields of a later version, after all others.
    mutating func add(_ later: [LaterField]) { for field in later { add(field.tag, field.value) } }

    /// Encodes the list at the start of `output`, which must have space for it.
    func encode(into output: inout MutableRawSpan) {
        var offset = output.write([Self.version].rawSpan)
        for (tag, value) in fields {
            var head = [tag]
            head.append(littleEndian: UInt32(clamping: value.count))
            offset += output.write(head.rawSpan, at: offset)
            offset += output.write(Array(value).rawSpan, at: offset)
        }
    }

    /// Parses all of `bytes`.
    ///
    /// - Throws: `decode` for anything but the canonical format.
    init(parsing bytes: RawSpan) throws(KeychainFault) {
        let octets = [UInt8](copying: bytes)
        guard octets.first == Self.version else { throw .decode }
        fields.reserveCapacity(12)
        var offset = 1
        while offset < octets.count {
            guard octets.count - offset >= 5 else { throw .decode }
            let tag = octets[offset]
            var count = 0
            for index in 0..<4 { count |= Int(octets[offset + 1 + index]) << (8 * index) }
            offset += 5
            guard octets.count - offset >= count else { throw .decode }
            if let last = fields.last, last.tag >= tag { throw .decode }
            fields.append((tag, octets[offset..<offset + count]))
            offset += count
        }
    }
}

extension FieldList {
    /// Removes and returns the value of the next field if it has that tag. Must be called in the order of the tags, and
    /// ``later()`` at the end.
    mutating func optional(_ tag: UInt8) -> ArraySlice<UInt8>? {
        guard position < fields.count, fields[position].tag == tag else { return nil }
        defer { position += 1 }
        return fields[position].value
    }

    /// Removes and returns the value of the next field.
    ///
    /// - Throws: `decode` if it does not have that tag.
    mutating func required(_ tag: UInt8) throws(KeychainFault) -> ArraySlice<UInt8> {
        guard let value = optional(tag) else { throw .decode }
        return value
    }

    /// Returns the other fields.
    ///
    /// - Parameter isKnown: Whether a tag is one of further known fields.
    /// - Throws: `decode` for an unknown field that no later version may add.
    mutating func later(_ isKnown: (UInt8) -> Bool = { _ in false }) throws(KeychainFault) -> [LaterField] {
        guard position < fields.count else { return [] }
        let rest = fields[position...]
        guard rest.allSatisfy({ LaterField.tags.contains($0.tag) || isKnown($0.tag) }) else { throw .decode }
        position = fields.count
        return rest.map { LaterField(tag: $0.tag, value: Array($0.value)) }
    }
}
