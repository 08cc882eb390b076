/// Writes a `bplist00`. The elements of a container precede it, and a key of several dictionaries occurs once.
struct BinaryPropertyListWriter {
    private var bytes = BinaryTrailer.magic
    private var offsets: [Int] = []
    private var keys: [String: Int] = [:]
    private let referenceWidth: Int

    /// Returns the list of a value.
    ///
    /// - Throws: `malformed` for a value that no reader would accept: deeper than ``PropertyListLimits/depth``, or with
    ///   a secret below 0.
    static func bytes(of value: PropertyList) throws(FrameError) -> [UInt8] {
        var writer = BinaryPropertyListWriter(objectLimit: try value.objectCount(depth: 1))
        let top = try writer.write(value)
        writer.finish(top: top)
        return writer.bytes
    }

    private init(objectLimit: Int) {
        referenceWidth = Self.width(of: objectLimit)
    }

    /// Writes a value and its elements. Returns its number.
    private mutating func write(_ value: PropertyList) throws(FrameError) -> Int {
        switch value {
        case .string(let text): write(text)
        case .data(let data): object(BinaryMarker.data, count: data.count) { $0 += data }
        case .integer(let number): object { $0.append(integer: number) }
        case .real(let number): object { $0.append(BinaryMarker.real | 3, number) }
        case .boolean(let flag): object { $0.append(flag ? BinaryMarker.truth : BinaryMarker.falsity) }
        case .date(let seconds): object { $0.append(BinaryMarker.date, seconds) }
        case .array(let values): try write(values)
        case .dictionary(let values): try write(values)
        case .null: object { $0.append(BinaryMarker.null) }
        case .secret(let index): try write(secret: index)
        case .object: try write(PropertyList.objectMark)
        }
    }

    private mutating func write(_ text: String) -> Int {
        let utf8 = text.utf8
        if utf8.allSatisfy({ $0 < 0x80 }) {
            return object(BinaryMarker.ascii, count: utf8.count) { $0 += utf8 }
        }
        let units = Array(text.utf16)
        return object(BinaryMarker.unicode, count: units.count) { bytes in
            for unit in units { bytes.append(bigEndian: UInt64(unit), width: 2) }
        }
    }

    private mutating func write(_ values: [PropertyList]) throws(FrameError) -> Int {
        var references: [Int] = []
        references.reserveCapacity(values.count)
        for value in values { references.append(try write(value)) }
        return container(BinaryMarker.array, count: values.count, references)
    }

    private mutating func write(_ values: [String: PropertyList]) throws(FrameError) -> Int {
        var names: [Int] = []
        var contents: [Int] = []
        for (key, value) in values {
            names.append(write(key: key))
            contents.append(try write(value))
        }
        return container(BinaryMarker.dictionary, count: values.count, names + contents)
    }

    /// Writes a key once. Texts that are not ASCII can be equal with different bytes, so they are compared by their
    /// bytes.
    private mutating func write(key: String) -> Int {
        guard key.utf8.allSatisfy({ $0 < 0x80 }) else { return write(key) }
        if let known = keys[key] { return known }
        let number = write(key)
        keys[key] = number
        return number
    }

    private mutating func write(secret index: Int) throws(FrameError) -> Int {
        guard let number = UInt64(exactly: index) else { throw .malformed }
        let width = Self.width(of: index)
        return object { bytes in
            bytes.append(BinaryMarker.uid | UInt8(width - 1))
            bytes.append(bigEndian: number, width: width)
        }
    }

    private mutating func container(_ marker: UInt8, count: Int, _ references: [Int]) -> Int {
        let width = referenceWidth
        return object(marker, count: count) { bytes in
            for reference in references { bytes.append(bigEndian: UInt64(reference), width: width) }
        }
    }

    private mutating func object(_ marker: UInt8, count: Int, _ body: (inout [UInt8]) -> Void) -> Int {
        object { bytes in
            if count < BinaryMarker.countFollows {
                bytes.append(marker | UInt8(count))
            } else {
                bytes.append(marker | BinaryMarker.countFollows)
                bytes.append(integer: Int64(count))
            }
            body(&bytes)
        }
    }

    private mutating func object(_ body: (inout [UInt8]) -> Void) -> Int {
        offsets.append(bytes.count)
        body(&bytes)
        return offsets.count - 1
    }

    private mutating func finish(top: Int) {
        let tableOffset = bytes.count
        let width = Self.width(of: tableOffset)
        for offset in offsets { bytes.append(bigEndian: UInt64(offset), width: width) }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(width), UInt8(referenceWidth)]
        for number in [offsets.count, top, tableOffset] { bytes.append(bigEndian: UInt64(number), width: 8) }
    }

    /// Returns the width of a number in bytes: 1, 2, 4 or 8.
    private static func width(of number: Int) -> Int {
        switch number {
        case ..<(1 << 8): 1
        case ..<(1 << 16): 2
        case ..<(1 << 32): 4
        default: 8
        }
    }
}

extension [UInt8] {
    /// Appends an integer, unsigned unless it has 8 bytes.
    fileprivate mutating func append(integer number: Int64) {
        let logarithm: UInt8 =
            switch number {
            case 0..<1 << 8: 0
            case 0..<1 << 16: 1
            case 0..<1 << 32: 2
            default: 3
            }
        append(BinaryMarker.integer | logarithm)
        append(bigEndian: UInt64(bitPattern: number), width: 1 << Int(logarithm))
    }

    fileprivate mutating func append(_ marker: UInt8, _ number: Double) {
        append(marker)
        append(bigEndian: number.bitPattern, width: 8)
    }
}

extension PropertyList {
    /// Returns an upper bound of the number of objects.
    fileprivate func objectCount(depth: Int) throws(FrameError) -> Int {
        guard depth <= PropertyListLimits.depth else { throw .malformed }
        var count = 1
        switch self {
        case .array(let values):
            for value in values { count += try value.objectCount(depth: depth + 1) }
        case .dictionary(let values):
            for value in values.values { count += 1 + (try value.objectCount(depth: depth + 1)) }
        case .object:
            count += try PropertyList.dictionary(Self.objectMark).objectCount(depth: depth)
        default: break
        }
        return count
    }
}
