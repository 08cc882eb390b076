/// Reads an untrusted `bplist00`. Reads no byte outside of the list, and no more levels, values and bytes than
/// ``PropertyListLimits`` permits, regardless of references. The maximum depth ends cycles.
struct BinaryPropertyListReader {
    private let bytes: [UInt8]
    private let trailer: BinaryTrailer
    private var valuesLeft = PropertyListLimits.values
    private var payloadLeft = PropertyListLimits.payload

    /// Returns the value of a complete list.
    ///
    /// - Throws: `malformed` if the bytes are not a valid list.
    static func value(of bytes: [UInt8]) throws(FrameError) -> PropertyList {
        var reader = BinaryPropertyListReader(bytes: bytes, trailer: try BinaryTrailer(of: bytes))
        return try reader.value(reader.trailer.top, depth: 1)
    }

    private init(bytes: [UInt8], trailer: BinaryTrailer) {
        self.bytes = bytes
        self.trailer = trailer
    }

    private mutating func value(_ reference: Int, depth: Int) throws(FrameError) -> PropertyList {
        guard valuesLeft > 0 else { throw .malformed }
        valuesLeft -= 1
        var object = try object(reference)
        let marker = try object.byte()
        let low = marker & BinaryMarker.low
        switch marker & BinaryMarker.kind {
        case BinaryMarker.null: return try Self.constant(marker)
        case BinaryMarker.integer: return .integer(try object.integer(logarithm: low))
        case BinaryMarker.real: return .real(try object.real(logarithm: low))
        case BinaryMarker.date & BinaryMarker.kind where marker == BinaryMarker.date:
            return .date(try object.real(logarithm: 3))
        case BinaryMarker.data: return .data(try payload(&object, low, width: 1))
        case BinaryMarker.ascii: return .string(try Self.ascii(payload(&object, low, width: 1)))
        case BinaryMarker.unicode: return .string(try Self.unicode(payload(&object, low, width: 2)))
        case BinaryMarker.uid: return .secret(try object.position(width: Int(low) + 1))
        case BinaryMarker.array: return .array(try elements(try references(&object, low), depth))
        case BinaryMarker.dictionary: return try dictionary(&object, low, depth)
        default: throw .malformed
        }
    }

    /// Returns a reader for an object, limited to the end of all objects.
    private func object(_ reference: Int) throws(FrameError) -> BinaryObjectReader {
        guard reference < trailer.objectCount else { throw .malformed }
        let entry = trailer.tableOffset + reference * trailer.offsetWidth
        let offset = try bytes.position(at: entry, width: trailer.offsetWidth)
        guard offset >= BinaryTrailer.magic.count, offset < trailer.tableOffset else { throw .malformed }
        return BinaryObjectReader(bytes: bytes[offset..<trailer.tableOffset])
    }

    private static func constant(_ marker: UInt8) throws(FrameError) -> PropertyList {
        switch marker {
        case BinaryMarker.null: .null
        case BinaryMarker.falsity: .boolean(false)
        case BinaryMarker.truth: .boolean(true)
        default: throw .malformed
        }
    }

    /// Returns the bytes of a text or data with units of `width` bytes.
    private mutating func payload(
        _ object: inout BinaryObjectReader, _ low: UInt8, width: Int
    ) throws(FrameError) -> [UInt8] {
        let units = try object.count(low)
        guard units <= payloadLeft / width else { throw .malformed }
        payloadLeft -= units * width
        return try object.bytes(units * width)
    }

    private static func ascii(_ bytes: [UInt8]) throws(FrameError) -> String {
        guard bytes.allSatisfy({ $0 < 0x80 }) else { throw .malformed }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func unicode(_ bytes: [UInt8]) throws(FrameError) -> String {
        let units = stride(from: 0, to: bytes.count, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
        guard let text = String(validating: units, as: UTF16.self) else { throw .malformed }
        return text
    }

    private func references(_ object: inout BinaryObjectReader, _ low: UInt8) throws(FrameError) -> [Int] {
        let count = try object.count(low)
        return try references(&object, count: count)
    }

    /// The count is checked before memory is allocated: it must not exceed the bytes of the list and the limits.
    private func references(_ object: inout BinaryObjectReader, count: Int) throws(FrameError) -> [Int] {
        guard count <= valuesLeft, count <= object.bytesLeft / trailer.referenceWidth else { throw .malformed }
        var references: [Int] = []
        references.reserveCapacity(count)
        for _ in 0..<count { references.append(try object.position(width: trailer.referenceWidth)) }
        return references
    }

    private mutating func elements(_ references: [Int], _ depth: Int) throws(FrameError) -> [PropertyList] {
        guard references.isEmpty || depth < PropertyListLimits.depth else { throw .malformed }
        var values: [PropertyList] = []
        values.reserveCapacity(references.count)
        for reference in references { values.append(try value(reference, depth: depth + 1)) }
        return values
    }

    /// Reads a dictionary, whose keys are distinct texts.
    private mutating func dictionary(
        _ object: inout BinaryObjectReader, _ low: UInt8, _ depth: Int
    ) throws(FrameError) -> PropertyList {
        let count = try object.count(low)
        let keys = try elements(try references(&object, count: count), depth)
        let values = try elements(try references(&object, count: count), depth)
        var dictionary: [String: PropertyList] = [:]
        dictionary.reserveCapacity(count)
        for (key, value) in zip(keys, values) {
            guard case .string(let key) = key, dictionary.updateValue(value, forKey: key) == nil else {
                throw .malformed
            }
        }
        return dictionary == PropertyList.objectMark ? .object : .dictionary(dictionary)
    }
}
