import Foundation
import Keychain
import Testing

@testable import KeychainStorage

/// The fixture with one byte of its file changed, or with pages swapped, or cut off.
@Suite("S4: bytes of the file that somebody has changed")
struct EveryByteTests {
    /// The pages, counted from 0, that each item's row and secret lie in.
    private static let places: Result<[RowID: Set<Int>], any Error> = Result {
        var places: [RowID: Set<Int>] = [:]
        let fixture = try StoreFixture()
        try withExtendedLifetime(fixture) {
            try TablePages(path: fixture.path).forEachRow { row in
                guard let id = row.rowID, row.table == "item" || row.table == "secret" else { return }
                places[RowID(rawValue: id), default: []].formUnion(row.pages.map { $0 - 1 })
            }
        }
        return places
    }

    /// The file with pages changed: only items that lie in them may be hurt.
    private func complaints(_ bytes: Data, pages: Set<Int>) throws -> [String] {
        let hurt = try Self.places.get().filter { !$0.value.isDisjoint(with: pages) }.keys
        return try DamagedFixture(try StoreFixture(bytes: bytes)).complaints(hurt: Set(hurt))
    }

    @Test("S4: no flipped byte yields a wrong value; what is sound is saved")
    func flips() throws {
        let length = ProofLength(short: 8)
        let whole = try StoreFixture.bytes.get()
        var cases = 0
        for number in length.spread(whole.count * 8) {
            guard !length.isOver else { break }
            var bytes = whole
            bytes[number / 8] ^= 1 << UInt8(number % 8)
            // Free space is not used: what is zero stays out of the short run.
            if !length.isLong, whole[number / 8] == 0 { continue }
            let found = try complaints(bytes, pages: [number / 8 / 4096])
            #expect(found == [], "KEYCHAINFS_PROOF_SEED=\(number): byte \(number / 8), bit \(number % 8)")
            cases += 1
        }
        #expect(cases > 0)
        length.tell("flips", cases: cases)
    }

    @Test("S4: pages that are swapped, doubled, emptied or cut off")
    func pages() throws {
        let length = ProofLength(short: 6)
        let whole = try StoreFixture.bytes.get()
        let size = 4096
        let count = whole.count / size
        var cases = 0
        for number in length.spread(count * count) where !length.isOver {
            let (first, second) = (number / count, number % count)
            var bytes = whole
            let (a, b) = (page(first, size), page(second, size))
            var pages: Set = [first]
            switch (first, second) {
            // Chains of pages name each other by number.
            case _ where first < second:
                (bytes[a], bytes[b]) = (whole[b], whole[a])
                pages.insert(second)
            case _ where first > second: bytes[a] = whole[b]
            default:
                bytes = whole.prefix(first * size)
                pages.formUnion(first..<count)
            }
            let found = try complaints(bytes, pages: pages)
            #expect(found == [], "KEYCHAINFS_PROOF_SEED=\(number): pages \(first) and \(second)")
            cases += 1
        }
        #expect(cases > 0)
        length.tell("pages", cases: cases)
    }

    private func page(_ number: Int, _ size: Int) -> Range<Int> { number * size..<(number + 1) * size }
}
