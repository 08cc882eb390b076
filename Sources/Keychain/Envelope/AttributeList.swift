/// The encoding of the two groups of attributes, each in one field, sorted by name; nil for an empty group.
enum AttributeList {
    /// Encodes attributes: for each the key (1 byte), the size (u32), and the value. Keys are ascending.
    static func encode(
        _ attributes: [AttributeKey: AttributeValue], later: [LaterField]
    ) throws(KeychainFault) -> [UInt8]? {
        guard !attributes.isEmpty || !later.isEmpty else { return nil }
        var bytes: [UInt8] = []
        for (key, value) in attributes.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            guard key.isStored(as: value) else { throw .param }
            append(key.rawValue, try value.encoded(), to: &bytes)
        }
        for attribute in later { append(attribute.tag, attribute.value, to: &bytes) }
        return bytes
    }

    private static func append(_ key: UInt8, _ value: [UInt8], to bytes: inout [UInt8]) {
        bytes.append(key)
        bytes.append(littleEndian: UInt32(clamping: value.count))
        bytes += value
    }

    static func decode(
        _ bytes: ArraySlice<UInt8>?
    ) throws(KeychainFault) -> (known: [AttributeKey: AttributeValue], later: [LaterField]) {
        guard let bytes else { return ([:], []) }
        var reader = ByteReader(bytes)
        var attributes: [AttributeKey: AttributeValue] = [:]
        var later: [LaterField] = []
        var last: UInt8 = 0
        repeat {
            let raw = try reader.integer(UInt8.self)
            guard raw > last else { throw .decode }
            last = raw
            guard !LaterField.tags.contains(raw) else {
                later.append(LaterField(tag: raw, value: try reader.counted()))
                continue
            }
            if unsupported.contains(raw), !primaryKey.contains(raw) {
                later.append(LaterField(tag: raw, value: try value(&reader)))
                continue
            }
            guard let key = AttributeKey(rawValue: raw) else { throw .decode }
            let value = try AttributeValue(decoding: reader.countedSlice())
            guard key.isStored(as: value) else { throw .decode }
            attributes[key] = value
        } while !reader.isAtEnd
        return (attributes, later)
    }

    /// The attributes of certificates and keys, which this program does not support. Part of the store format.
    private static let unsupported: Set<UInt8> = Set(34...65).subtracting([40])
    private static let certificateType: UInt8 = 34
    /// The subset that belongs to the primary key and is in a separate field.
    private static let primaryKey: Set<UInt8> = Set(41...49).union([34, 37, 38])

    /// Returns the attributes in the primary key of a certificate or key.
    ///
    /// - Throws: `decode` if it is malformed.
    private static func attributes(
        primaryKey bytes: [UInt8]
    ) throws(KeychainFault) -> [(key: UInt8, value: AttributeValue)] {
        var reader = ByteReader(bytes)
        var found: [(key: UInt8, value: AttributeValue)] = []
        while !reader.isAtEnd {
            let key = try reader.integer(UInt8.self)
            guard key > found.last?.key ?? 0, primaryKey.contains(key) else { throw .decode }
            found.append((key, try AttributeValue(decoding: reader.countedSlice())))
        }
        return found
    }

    /// Returns the number of bytes of the values in the primary key of a certificate or key.
    ///
    /// - Throws: `decode` if it is malformed.
    static func payloadCount(primaryKey bytes: [UInt8]) throws(KeychainFault) -> Int {
        try attributes(primaryKey: bytes).reduce(0) { $0 + $1.value.payloadCount }
    }

    /// Whether a primary key is that of a certificate: only that has a kSecAttrCertificateType.
    static func isOfCertificate(primaryKey bytes: [UInt8]) throws(KeychainFault) -> Bool {
        try attributes(primaryKey: bytes).contains { $0.key == certificateType }
    }

    /// Returns a primary key as its lookup tag contains it: text as data, because both with equal bytes are one key.
    ///
    /// - Throws: `decode` if it is malformed.
    static func comparable(primaryKey bytes: [UInt8]) throws(KeychainFault) -> [UInt8] {
        var comparable: [UInt8] = []
        for (key, value) in try attributes(primaryKey: bytes) {
            let value = value.bytes.map { AttributeValue.data($0) } ?? value
            append(key, try value.encoded(), to: &comparable)
        }
        return comparable
    }

    /// Returns the number of bytes of a value that counts towards the limit: all of an unknown attribute, otherwise without
    /// the byte of its type.
    static func payloadCount(_ attribute: LaterField) -> Int {
        LaterField.tags.contains(attribute.tag) ? attribute.value.count : attribute.value.count - 1
    }

    /// Reads the bytes of a value of any kind.
    private static func value(_ reader: inout ByteReader) throws(KeychainFault) -> [UInt8] {
        let value = try reader.countedSlice()
        _ = try AttributeValue(decoding: value)
        return Array(value)
    }

    /// Encodes extra attributes: for each size (u32) and name, size (u32) and value. Names are ascending, compared by
    /// their bytes.
    static func encode(extra: [[UInt8]: [UInt8]]) throws(KeychainFault) -> [UInt8]? {
        guard !extra.isEmpty else { return nil }
        var bytes: [UInt8] = []
        guard extra.keys.allSatisfy(isName) else { throw .param }
        for (name, value) in extra.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            bytes.append(littleEndian: UInt32(clamping: name.count))
            bytes += name
            bytes.append(littleEndian: UInt32(clamping: value.count))
            bytes += value
        }
        return bytes
    }

    /// Whether a name fits into XATTR_NAME_MAX without `user.`, and into a C string.
    private static func isName(_ name: [UInt8]) -> Bool { (1...250).contains(name.count) && !name.contains(0) }

    static func decode(extra bytes: ArraySlice<UInt8>?) throws(KeychainFault) -> [[UInt8]: [UInt8]] {
        guard let bytes else { return [:] }
        var reader = ByteReader(bytes)
        var extra: [[UInt8]: [UInt8]] = [:]
        var last: [UInt8]?
        repeat {
            let name = try reader.counted()
            guard isName(name) else { throw .decode }
            if let last, !last.lexicographicallyPrecedes(name) { throw .decode }
            extra[name] = try reader.counted()
            last = name
        } while !reader.isAtEnd
        return extra
    }
}
