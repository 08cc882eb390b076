import Foundation
import Keychain
import TestSupport
import Testing

@testable import KeychainStorage

/// A small keychain with one changed byte in its file, or with swapped, duplicated or truncated pages.
@Suite("S4: changed bytes of the file")
struct EveryByteTests {
    private static let pageSize = 4096

    private let small: SmallFixture

    init() throws { small = try SmallFixture.made.get() }

    /// Checks the file with changed pages: items in them may be damaged, and for pages with keys the items that those
    /// open.
    private func complaints(_ bytes: Data, pages: Set<Int>) throws -> [String] {
        let damaged = small.places.filter { !$0.value.isDisjoint(with: pages) }.keys
        return try DamagedFixture(try StoreFixture(bytes: bytes), truth: small.truth)
            .complaints(damaged: Set(damaged), damagesKeys: !small.keyPages.isDisjoint(with: pages))
    }

    /// Two halves, side by side.
    @Test("S4: no flipped byte yields a wrong value; the intact items are saved", arguments: [0, 1])
    func flips(half: Int) throws {
        let length = ProofLength(cases: 40)
        // Seven tenths of the file are free space, which is zero: a long run samples it.
        let places = small.bytes.indices.filter { small.bytes[$0] != 0 || length.isLong && $0.isMultiple(of: 16) }
        var cases = 0
        for (number, place) in length.spread(places.count, rounds: 8).enumerated() where place % 2 == half {
            // A long run covers every place, for any duration.
            if length.isOver(after: cases), !length.isLong || number >= places.count { break }
            let byte = places[place]
            try flip((byte + number / places.count) % 8, of: byte)
            cases += 1
        }
        #expect(cases > 0)
        length.report("flips", cases: cases)
    }

    private func flip(_ bit: Int, of byte: Int) throws {
        var bytes = small.bytes
        bytes[byte] ^= 1 << UInt8(bit)
        let found = try complaints(bytes, pages: [byte / Self.pageSize])
        #expect(found == [], "KEYCHAINFS_PROOF_SEED=\(byte): bit \(bit)")
    }

    @Test("S4: every bit at the beginnings of rows, which describe their columns") func heads() throws {
        let length = ProofLength(cases: 40)
        let places = cells().flatMap { cell in (cell..<cell + 24).flatMap { byte in (0..<8).map { (byte, $0) } } }
        var cases = 0
        for number in length.spread(places.count) {
            if length.isOver(after: cases), !length.isLong { break }
            let (byte, bit) = places[number]
            try flip(bit, of: byte)
            cases += 1
        }
        #expect(cases > 0)
        length.report("heads", cases: cases)
    }

    @Test("S4: a row that is readable despite a flipped bit exists after the repair")
    func readable() throws {
        var cases = 0
        for (number, (byte, bit)) in places().enumerated() where number.isMultiple(of: 3) {
            var bytes = small.bytes
            bytes[byte] ^= bit
            let found = try complaints(bytes, pages: [byte / Self.pageSize])
            #expect(found == [], "byte \(byte)")
            cases += 1
        }
        #expect(cases > 10)
    }

    /// Returns places in rows of items: the types of their BLOB columns, which one bit changes to text, and the lengths
    /// and numbers of the rows.
    private func places() -> [(byte: Int, bit: UInt8)] {
        var places: [(byte: Int, bit: UInt8)] = []
        for page in small.itemPages {
            let start = page * Self.pageSize
            for index in 0..<number(at: start + 3) {
                let cell = start + number(at: start + 8 + 2 * index)
                for byte in cell..<cell + 20 where [28, 44, 92].contains(small.bytes[byte]) { places.append((byte, 1)) }
                for byte in cell + 1...cell + 3 { places += [(byte, 1), (byte, 2)] }
            }
        }
        return places
    }

    @Test("S4: a number 0 that one bit turned into an empty BLOB reads as 0, and exists after the repair")
    func zeros() throws {
        var cases = 0
        for byte in cells().flatMap({ $0 + 2..<$0 + 16 }) where small.bytes[byte] == 8 {
            try flip(2, of: byte)
            cases += 1
        }
        #expect(cases > 10)
    }

    /// A changed bit creates a second row for the same purpose from a row of a class key.
    @Test("S4: of two rows of class keys for one purpose, the valid one exists after the repair")
    func twins() throws {
        var cases = 0
        for header in keyHeaders(hasNumbers: false) {
            let purpose = header + Int(small.bytes[header])
            for bit in 0..<3 {
                try flip(bit, of: purpose)
                cases += 1
            }
        }
        #expect(cases > 10)
    }

    @Test("S4: a slot that SQLite reads despite a changed number or type of columns exists after the repair")
    func slots() throws {
        var cases = 0
        // The longest of the rows of keys.
        for header in keyHeaders(hasNumbers: true) where small.bytes[header] >= 10 {
            for byte in header..<header + Int(small.bytes[header]) {
                for bit in bits(of: byte) { try flip(bit, of: byte) }
                cases += 1
            }
        }
        #expect(cases > 10)
    }

    /// The bits of a byte that are flipped: all, or in a landing run every third, beginning with another one in each byte.
    private func bits(of byte: Int) -> [Int] {
        TestLane.isComplete ? Array(0..<8) : Array(stride(from: byte % 3, to: 8, by: 3))
    }

    /// Returns the beginnings of the headers of rows of keys, whose first byte is their length: of tables with row IDs,
    /// or of the others (sqlite.org/fileformat2.html).
    private func keyHeaders(hasNumbers: Bool) -> [Int] {
        let leaf: UInt8 = hasNumbers ? 13 : 10
        return cells(of: small.keyPages.filter { small.bytes[$0 * Self.pageSize] == leaf }).map { cell in
            // How long the row is, in one byte or two, and its number.
            cell + (small.bytes[cell] < 128 ? 1 : 2) + (hasNumbers ? 1 : 0)
        }
    }

    /// Returns the beginnings of the rows of items and keys.
    private func cells() -> [Int] { cells(of: small.itemPages.union(small.keyPages)) }

    private func cells(of pages: Set<Int>) -> [Int] {
        pages.sorted().flatMap { page in
            let start = page * Self.pageSize
            return (0..<number(at: start + 3)).map { start + number(at: start + 8 + 2 * $0) }
        }
    }

    /// Returns a big-endian number of two bytes.
    private func number(at byte: Int) -> Int { Int(small.bytes[byte]) << 8 | Int(small.bytes[byte + 1]) }

    @Test("S4: pages that are swapped, duplicated or truncated")
    func pages() throws {
        let length = ProofLength(cases: 40)
        let count = small.bytes.count / Self.pageSize
        var cases = 0
        for number in length.spread(count * count) {
            if length.isOver(after: cases), !length.isLong { break }
            let (first, second) = (number / count, number % count)
            var bytes = small.bytes
            let (a, b) = (page(first), page(second))
            var pages: Set = [first]
            switch (first, second) {
            // Chains of pages name each other by number.
            case _ where first < second:
                (bytes[a], bytes[b]) = (small.bytes[b], small.bytes[a])
                pages.insert(second)
            case _ where first > second: bytes[a] = small.bytes[b]
            default:
                bytes = small.bytes.prefix(first * Self.pageSize)
                pages.formUnion(first..<count)
            }
            let found = try complaints(bytes, pages: pages)
            #expect(found == [], "KEYCHAINFS_PROOF_SEED=\(number): pages \(first) and \(second)")
            cases += 1
        }
        #expect(cases > 0)
        length.report("pages", cases: cases)
    }

    private func page(_ number: Int) -> Range<Int> { number * Self.pageSize..<(number + 1) * Self.pageSize }
}
