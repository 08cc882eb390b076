import Testing

@testable import Keychain

@Suite struct LittleEndianTests {
    @Test("A number is encoded least significant byte first, in as many bytes as its type has")
    func encoded() {
        #expect([UInt8](littleEndian: UInt8(0xA1)) == [0xA1])
        #expect([UInt8](littleEndian: UInt16(0xA1B2)) == [0xB2, 0xA1])
        #expect([UInt8](littleEndian: UInt32(0xA1B2_C3D4)) == [0xD4, 0xC3, 0xB2, 0xA1])
        #expect([UInt8](littleEndian: Int64(-2)) == [0xFE] + [UInt8](repeating: 0xFF, count: 7))
        var bytes: [UInt8] = [1]
        bytes.append(littleEndian: UInt64(0x0102_0304_0506_0708))
        #expect(bytes == [1, 8, 7, 6, 5, 4, 3, 2, 1])
    }

    @Test("Numbers of every width are read back, sequentially, from the middle of an array")
    func read() throws {
        var bytes: [UInt8] = [0xFF]
        bytes.append(littleEndian: UInt8.max)
        bytes.append(littleEndian: UInt16(0xA1B2))
        bytes.append(littleEndian: Int32.min)
        bytes.append(littleEndian: Int64(-2))
        bytes.append(littleEndian: UInt64.max)
        var reader = ByteReader(bytes.dropFirst())
        #expect(try reader.integer(UInt8.self) == .max)
        #expect(try reader.integer(UInt16.self) == 0xA1B2)
        #expect(try reader.integer(Int32.self) == .min)
        #expect(try reader.integer(Int64.self) == -2)
        #expect(try reader.integer(UInt64.self) == .max)
        #expect(reader.isAtEnd)
    }

    @Test("A number that ends behind the last byte is not read, and nothing is consumed", arguments: 0..<8)
    func short(count: Int) throws {
        var reader = ByteReader([UInt8](repeating: 7, count: count))
        #expect(throws: KeychainFault.decode) { try reader.integer(UInt64.self) }
        #expect(reader.isAtEnd == (count == 0))
        for _ in 0..<count { #expect(try reader.integer(UInt8.self) == 7) }
        #expect(reader.isAtEnd)
    }
}
