import Foundation
import Testing

@testable import KeychainStorage

/// Files that were constructed to be expensive.
@Suite("S4: the rows that can be read from the pages of a damaged file")
struct PageScannerTests {
    private static let pageSize = 4096

    /// Returns the beginning of a record of that many bytes, with one column that contains all the rest.
    private func header(ofRecord count: Int) -> [UInt8] {
        let headers = (2...5).map { length in [UInt8(length)] + varint(12 + 2 * (count - length)) }
        return headers.first { $0.count == Int($0[0]) } ?? []
    }

    /// Returns a leaf of a table with `rows` cells at the same place, of `count` bytes each, which continue in page
    /// `next`.
    private func leaf(rows: Int, count: Int, next: Int) -> [UInt8] {
        let shortest = (Self.pageSize - 12) * 32 / 255 - 23
        let fitting = shortest + (count - shortest) % (Self.pageSize - 4)
        let head = fitting <= Self.pageSize - 35 ? fitting : shortest
        let header = header(ofRecord: count)
        var cell = varint(count) + varint(1) + header + [UInt8](repeating: 0, count: head - header.count)
        cell += (0..<4).map { UInt8(next >> (24 - 8 * $0) & 0xFF) }
        return leaf(rows: rows, cell: cell)
    }

    private func leaf(rows: Int, cell: [UInt8]) -> [UInt8] {
        var page = [UInt8](repeating: 0, count: Self.pageSize)
        page[0] = 13
        (page[3], page[4]) = (UInt8(rows >> 8), UInt8(rows & 0xFF))
        let place = Self.pageSize - cell.count
        for index in 0..<rows where 9 + 2 * index < place {
            (page[8 + 2 * index], page[9 + 2 * index]) = (UInt8(place >> 8), UInt8(place & 0xFF))
        }
        page.replaceSubrange(place..., with: cell)
        return page
    }

    private func varint(_ number: Int) -> [UInt8] {
        var groups = [UInt8(number & 0x7F)]
        var rest = number >> 7
        while rest > 0 {
            groups.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
            rest >>= 7
        }
        return groups
    }

    private func overflow(next: Int) -> [UInt8] {
        var page = [UInt8](repeating: 0, count: Self.pageSize)
        for byte in 0..<4 { page[byte] = UInt8(next >> (24 - 8 * byte) & 0xFF) }
        return page
    }

    /// Returns the number and the total size of the rows found in a file with those pages after a first one.
    private func found(_ pages: [[UInt8]]) throws -> (rows: Int, bytes: Int) {
        let scratch = try TemporaryDirectory()
        var first = [UInt8](repeating: 0, count: Self.pageSize)
        first.replaceSubrange(0..<16, with: Array("SQLite format 3\0".utf8))
        (first[16], first[17]) = (UInt8(Self.pageSize >> 8), 0)
        try Data(([first] + pages).flatMap { $0 }).write(to: URL(fileURLWithPath: scratch.keychain))
        var found = (rows: 0, bytes: 0)
        try PageScanner(path: scratch.keychain).forEachRow { row in
            found.rows += 1
            for case .bytes(let bytes) in row.values { found.bytes += bytes.count }
        }
        return found
    }

    @Test("a row with overflow pages is found completely")
    func complete() throws {
        let count = 40_000
        let chain = (3...12).map { overflow(next: $0 + 1) }
        #expect(try found([leaf(rows: 1, count: count, next: 3)] + chain) == (1, count - 4))
    }

    @Test("a chain of overflow pages with a cycle is not a row, for any claimed length")
    func cycle() throws {
        let count = 40_000
        let loop = [overflow(next: 4), overflow(next: 3)] + (5...12).map { overflow(next: $0 + 1) }
        #expect(try found([leaf(rows: 500, count: count, next: 3)] + loop) == (0, 0))
    }

    @Test("a row that claims more bytes than the file has is ignored", arguments: [1 << 20, 1 << 29])
    func tooLong(count: Int) throws {
        #expect(try found([leaf(rows: 500, count: count, next: 3), overflow(next: 3)]) == (0, 0))
    }

    @Test("rows that share their overflow pages cost a small multiple of the file")
    func shared() throws {
        let begun = ContinuousClock.now
        let pages = 300
        let leaves = 60
        let chain = (0..<pages).map { overflow(next: 2 + leaves + $0 + 1) }
        let count = (pages - 1) * (Self.pageSize - 4)
        let found = try found((0..<leaves).map { _ in leaf(rows: 900, count: count, next: 2 + leaves) } + chain)
        #expect(found.rows > 0)
        #expect(found.bytes <= 8 * (1 + leaves + pages) * Self.pageSize)
        #expect(ContinuousClock.now - begun < .seconds(60))
    }

    @Test("overlapping cells cost a small multiple of the page")
    func overlapping() throws {
        let begun = ContinuousClock.now
        let count = 3000
        let header = header(ofRecord: count)
        let cell = varint(count) + varint(1) + header + [UInt8](repeating: 0, count: count - header.count)
        let found = try found([leaf(rows: 500, cell: cell)])
        #expect(found.rows > 0)
        #expect(found.bytes <= 3 * 4 * Self.pageSize)
        #expect(ContinuousClock.now - begun < .seconds(60))
    }
}
