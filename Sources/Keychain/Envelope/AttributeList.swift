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
            let value = try value.encoded()
            bytes.append(key.rawValue)
            bytes.append(littleEndian: UInt32(clamping: value.count))
            bytes += value
        }
        for attribute in later {
            bytes.append(attribute.tag)
            bytes.append(littleEndian: UInt32(clamping: attribute.value.count))
            bytes += attribute.value
        }
        return bytes
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
    /// The subset that belongs to the primary key and is in a separate field.
    private static let primaryKey: Set<UInt8> = Set(41...49).union([34, 37, 38])

    /// Returns the number of bytes of the values in the primary key of a certificate or key; nil if it is malformed.
    static func payloadCount(primaryKey bytes: [UInt8]) -> Int? {
        do throws(KeychainFault) {
            var reader = ByteReader(bytes)
            var (last, count): (UInt8, Int) = (0, 0)
            while !reader.isAtEnd {
                let raw = try reader.integer(UInt8.self)
                guard raw > last, primaryKey.contains(raw) else { return nil }
                last = raw
                count += try value(&reader).count - 1
            }
            return count
        } catch {
            return nil
        }
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
