import KeychainRPC
import SecretCrypto
import Testing

@Suite("Binary property lists")
struct BinaryPropertyListTests {
    @Test("section 9: a list byte by byte")
    func vector() throws {
        let list = PropertyList.dictionary([
            "class": .array([.string("é"), .integer(-2), .secret(258), .null, .real(0.5)])
        ])
        let objects: [[UInt8]] = [
            [0x55] + Array("class".utf8), [0x61, 0x00, 0xE9], [0x13] + [UInt8](repeating: 0xFF, count: 7) + [0xFE],
            [0x81, 0x01, 0x02], [0x00], [0x23, 0x3F, 0xE0, 0, 0, 0, 0, 0, 0], [0xA5, 1, 2, 3, 4, 5], [0xD1, 0, 6],
        ]
        #expect(try list.binary() == RawList(objects, top: 7).bytes)
        #expect(try PropertyList(binary: RawList(objects, top: 7).bytes) == list)
    }

    @Test(
        "what no property list has travels too",
        arguments: [
            PropertyList.null, .object, .secret(0), .secret(255), .secret(256), .secret(.max),
            .array([.object, .null]),
            .accessControl(protection: "ak", flags: 1), .dictionary([:]), .array([]), .data([]), .string(""),
        ])
    func others(_ value: PropertyList) throws {
        #expect(try PropertyList(binary: value.binary()) == value)
    }

    @Test("numbers of every width that others write")
    func numbers() throws {
        let ones = [UInt8](repeating: 0xFF, count: 8)
        let expected: [([UInt8], PropertyList)] = [
            ([0x10, 0xFF], .integer(255)), ([0x11, 0xFF, 0xFF], .integer(65_535)),
            ([0x12, 0xFF, 0xFF, 0xFF, 0xFF], .integer(4_294_967_295)), ([0x13] + ones, .integer(-1)),
            ([0x14] + ones + ones, .integer(-1)), ([0x14] + [UInt8](repeating: 0, count: 15) + [7], .integer(7)),
            ([0x22, 0x3F, 0xC0, 0, 0], .real(1.5)), ([0x87, 0, 0, 0, 0, 0, 0, 0, 9], .secret(9)),
        ]
        for (object, value) in expected { #expect(try RawList([object], top: 0).value() == value) }
    }

    @Test("as deep as it may be, and one deeper")
    func depth() throws {
        let deepest = (1..<16).reduce(PropertyList.null) { value, _ in .array([value]) }
        #expect(try PropertyList(binary: deepest.binary()) == deepest)
        #expect(throws: FrameError.malformed) { _ = try PropertyList.array([deepest]).binary() }
        let chain = (0..<16).map { [0xA1, UInt8($0 + 1)] } + [[0x00]]
        #expect(try RawList(chain, top: 1).value() == deepest)
        #expect(throws: FrameError.malformed) { _ = try RawList(chain, top: 0).value() }
    }

    @Test("values that a list holds once and refers to often, as Apple writes them")
    func shared() throws {
        let often = [UInt8](repeating: 1, count: 200)
        let value = try RawList([[0xAF, 0x10, 200] + often, [0x52, 0x61, 0x62]], top: 0).value()
        #expect(value == .array(Array(repeating: .string("ab"), count: 200)))
    }

    @Test("a long list of short values, with references of two bytes")
    func long() throws {
        let value = PropertyList.array((0..<1000).map { .integer($0) })
        #expect(try PropertyList(binary: value.binary()) == value)
    }
}

@Suite("Invalid lists")
struct MalformedListTests {
    private let valid = RawList([[0xA2, 1, 2], [0x51, 0x61], [0x42, 1, 2]], top: 0)

    private func expectMalformed(_ bytes: [UInt8], _ comment: Comment) {
        #expect(throws: FrameError.malformed, comment) { _ = try PropertyList(binary: bytes) }
    }

    @Test("cut anywhere, or with a byte more at the end")
    func cut() throws {
        #expect(try valid.value() == .array([.string("a"), .data([1, 2])]))
        for count in 0..<valid.bytes.count { expectMalformed(Array(valid.bytes.prefix(count)), "\(count)") }
        expectMalformed(valid.bytes + [0], "longer")
    }

    @Test("each byte of the trailer, changed")
    func trailer() {
        let start = valid.bytes.count - 32
        for index in start..<valid.bytes.count {
            for change: UInt8 in [0x01, 0x80] {
                var bytes = valid.bytes
                bytes[index] ^= change
                // Another object on top is another list.
                if index == start + 23, bytes[index] < 3 { continue }
                expectMalformed(bytes, "\(index - start)")
            }
        }
    }

    @Test(
        "objects that there are not",
        arguments: [
            [0x01], [0x0A], [0x0F], [0x14, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
            [0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0],
            [0x15], [0x20, 0], [0x21, 0, 0], [0x24, 0], [0x32, 0, 0, 0, 0], [0x34], [0x51, 0x80], [0x61, 0xD8, 0x00],
            [0x61, 0xDC, 0x00], [0x62, 0xD8, 0x00, 0x00, 0x41], [0x70], [0x88, 0, 0, 0, 0, 0, 0, 0, 0, 1],
            [0x87, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x90], [0xB0], [0xC0], [0xE0], [0xF0],
            [0x42, 1], [0x10], [0x13, 1, 2, 3], [0x4F, 0x11, 0xFF, 0xFF], [0x4F, 0x20, 1], [0x4F, 0x13] + ones,
            [0x4F, 0x13, 0x7F] + ones.dropLast(), [0x6F, 0x13, 0x7F] + ones.dropLast(),
            [0xAF, 0x13, 0x7F] + ones.dropLast(), [0xDF, 0x13, 0x7F] + ones.dropLast(), [0xA1, 1], [0xA1], [0xD1, 0],
        ] as [[UInt8]])
    func objects(_ object: [UInt8]) { expectMalformed(RawList([object], top: 0).bytes, "\(object)") }

    private static let ones = [UInt8](repeating: 0xFF, count: 8)

    @Test("keys that are not strings, and duplicate keys, are refused")
    func keys() {
        expectMalformed(RawList([[0xD1, 1, 1], [0x10, 1]], top: 0).bytes, "a number")
        expectMalformed(RawList([[0xD2, 1, 1, 1, 1], [0x51, 0x61]], top: 0).bytes, "twice")
        expectMalformed(RawList([[0xD2, 1, 2, 1, 2], [0x51, 0x61], [0x51, 0x61]], top: 0).bytes, "two alike")
    }

    @Test("circles")
    func circles() {
        expectMalformed(RawList([[0xA1, 0]], top: 0).bytes, "itself")
        expectMalformed(RawList([[0xA2, 1, 1], [0xA2, 0, 0]], top: 0).bytes, "each other")
        expectMalformed(RawList([[0xD1, 1, 0], [0x51, 0x61]], top: 0).bytes, "a dictionary")
    }

    @Test("a short list that represents a huge one costs little time")
    func expansion() {
        let begun = ContinuousClock.now
        let wide = [UInt8](repeating: 1, count: 200)
        var levels = (1...8).map { level in
            [0xAF, 0x10, 200] + [UInt8](repeating: UInt8(level), count: 200)
        }
        levels.append([0x00])
        expectMalformed(RawList(levels, top: 0).bytes, "values")
        let long: [UInt8] = [0x4F, 0x12, 0, 1, 0, 0] + [UInt8](repeating: 7, count: 65_536)
        expectMalformed(RawList([[0xAF, 0x10, 200] + wide, long], top: 0).bytes, "bytes")
        #expect(ContinuousClock.now - begun < .seconds(60))
    }

    @Test("an offset that leads nowhere, into the table or before the objects")
    func offsets() {
        for offset: UInt8 in [0, 7, UInt8(valid.bytes.count - 32), UInt8(valid.bytes.count - 35), 255] {
            var bytes = valid.bytes
            bytes[bytes.count - 33] = offset
            expectMalformed(bytes, "\(offset)")
        }
    }
}

/// A list put together from the bytes of its objects, with offsets of two bytes and references of one.
struct RawList {
    var bytes: [UInt8]

    init(_ objects: [[UInt8]], top: UInt8) {
        bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(bytes.count)
            bytes += object
        }
        let table = bytes.count
        let width = table < 256 ? 1 : 4
        for offset in offsets { bytes += Self.bigEndian(offset, width) }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(width), 1]
        for number in [objects.count, Int(top), table] { bytes += Self.bigEndian(number, 8) }
    }

    func value() throws -> PropertyList { try PropertyList(binary: bytes) }

    private static func bigEndian(_ number: Int, _ width: Int) -> [UInt8] {
        (0..<width).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
