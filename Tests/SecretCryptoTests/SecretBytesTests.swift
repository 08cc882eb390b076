import Glibc
import SecretCrypto
import TestSupport
import Testing

@Suite struct SecretBytesTests {
    @Test func copiesAndSlices() throws {
        let bytes = [UInt8](0..<200)
        var one = try secret(bytes)
        let copy = try one.copy()
        let slice = try one.slice(10..<20)
        let nothing = try one.slice(200..<200)
        var bytesOfOne = one.mutableBytes
        bytesOfOne.storeBytes(of: 0xFF, as: UInt8.self)
        #expect(plain(one) == [0xFF] + bytes.dropFirst())
        #expect(plain(copy) == bytes)
        #expect(plain(slice) == Array(bytes[10..<20]))
        #expect(nothing.count == 0)
        let beyond = failure { _ = try one.slice(199..<201) }
        let before = failure { _ = try one.slice(-1..<1) }
        #expect(beyond == .invalidParameter && before == .invalidParameter)
    }

    @Test func truncationKeepsTheBeginning() throws {
        var held = try secret([1, 2, 3, 4])
        held.truncate(to: 9)
        #expect(plain(held) == [1, 2, 3, 4])
        held.truncate(to: 2)
        #expect(plain(held) == [1, 2])
        held.truncate(to: -1)
        #expect(held.count == 0 && plain(held).isEmpty)
    }

    @Test("Comparison in constant time finds each difference")
    func comparison() throws {
        let bytes = [UInt8](0..<65)
        let one = try secret(bytes)
        let same = try secret(bytes).isEqual(to: one)
        #expect(same)
        for position in bytes.indices {
            var other = bytes
            other[position] ^= 0x80
            let isEqual = try secret(other).isEqual(to: one)
            #expect(!isEqual)
        }
        let shorter = try secret(bytes.dropLast()).isEqual(to: one)
        #expect(!shorter)
        let none: [UInt8] = []
        let emptiesAreEqual = SecretBytes.areEqual(none.rawSpan, none.rawSpan)
        let emptyAndFull = SecretBytes.areEqual(none.rawSpan, bytes.rawSpan)
        #expect(emptiesAreEqual && !emptyAndFull)
    }

    @Test func randomOnesDiffer() throws {
        let one = try SecretBytes(randomCount: 32)
        let areEqual = try SecretBytes(randomCount: 32).isEqual(to: one)
        #expect(!areEqual)
        #expect(plain(one) != [UInt8](repeating: 0, count: 32))
    }

    @Test(
        "Reading takes everything up to the limit and refuses more", arguments: [0, 1, 4095, 4096, 4097, 9000, 60_000])
    func descriptors(count: Int) throws {
        var generator = SeededGenerator(seed: 7)
        let bytes = generator.bytes(count)
        let arena = SecretArena(capacity: 1 << 20)
        for (limit, isEnough) in [(count, true), (count + 1, true), (1 << 17, true), (count - 1, false)] {
            var ends: [Int32] = [0, 0]
            try #require(pipe(&ends) == 0)
            let (reading, writing) = (ends[0], ends[1])
            let writer = Background {
                try? secret(bytes).write(to: writing)
                close(writing)
            }
            let refusal = failure {
                let got = try SecretBytes.read(from: reading, limit: limit, in: arena)
                #expect(plain(got) == bytes)
            }
            // Refused bytes stay in the pipe. Reading them unblocks the writer.
            var rest = [UInt8](repeating: 0, count: 1 << 17)
            while read(reading, &rest, rest.count) > 0 {}
            #expect(refusal == (isEnough ? nil : .invalidParameter))
            #expect(writer.ends(within: 10))
            close(reading)
        }
        #expect(arena.bytesInUse == 0)
    }

    @Test("E13: as many bytes as the limit are read into an arena of twice that size")
    func descriptorsInSmallArena() throws {
        let count = 1 << 20
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let (reading, writing) = (ends[0], ends[1])
        let writer = Background {
            var rest = [UInt8](repeating: 7, count: count)[...]
            while !rest.isEmpty {
                let written = Array(rest).withUnsafeBytes { write(writing, $0.baseAddress, $0.count) }
                guard written > 0 else { break }
                rest = rest.dropFirst(written)
            }
            close(writing)
        }
        let secret = try SecretBytes.read(
            from: reading, limit: count, in: SecretArena(capacity: 2 * count))
        #expect(secret.count == count && writer.ends(within: 10))
        close(reading)
    }

    @Test func descriptorsThatFail() throws {
        let read = failure { _ = try SecretBytes.read(from: -1, limit: 10) }
        let write = failure { try secret([1]).write(to: -1) }
        #expect(read == .io(EBADF) && write == .io(EBADF))
    }

    @Test func spansForTargetsWithoutUnsafeCode() throws {
        var held = try secret([0, 0, 0, 0])
        let source: [UInt8] = [7, 8, 9]
        var target = held.mutableBytes
        let written = target.write(source.rawSpan, at: 2)
        let outside = target.write(source.rawSpan, at: 4) + target.write(source.rawSpan, at: -1)
        #expect(written == 2 && outside == 0)
        #expect(plain(held) == [0, 0, 7, 8])
        let last = held.bytes.octets[3]
        #expect(last == 8)
        var again = held.mutableBytes
        again.clear(-5..<3)
        #expect(plain(held) == [0, 0, 0, 8])
    }

    @Test(
        "L5: printable text is recognized",
        arguments: [
            ("password", true), ("two\r\nlines\t\n", true), ("pässwörd — ключ 🔑", true), ("", false), ("a\u{0}", false),
            ("a\u{1b}", false), ("a\u{7f}", false), ("a\u{85}", false), ("a\u{9f}", false), ("\u{a0}", true),
        ])
    func printableText(text: String, isText: Bool) throws {
        let held = try SecretBytes(copying: Array(text.utf8).rawSpan)
        let found = held.isPrintableText
        #expect(found == isText)
        // The bytes with an additional byte that is not UTF-8.
        let broken = try SecretBytes(copying: (Array(text.utf8) + [0xFF]).rawSpan)
        let isBrokenText = broken.isPrintableText
        #expect(!isBrokenText)
    }
}
