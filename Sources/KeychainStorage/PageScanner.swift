internal import Foundation
internal import SystemPackage

/// A row as stored in a page, with one value per column. Columns never contain text or floating point numbers; a text
/// value differs by one bit from the original bytes.
struct RawRow {
    enum Value: Equatable {
        case null
        case integer(Int64)
        case bytes([UInt8])
    }

    /// The row number; nil in the tree of an index.
    let rowID: Int64?
    let values: [Value]
    /// The page of the row, and its overflow pages.
    let pages: [Int]
}

/// Reads the rows of an SQLite file page by page, regardless of the trees, to recover what remains if those are
/// damaged.
///
/// Every page is read as a leaf, even if its type differs, because that may be the damage. Bytes that do not have the
/// format of a row are ignored. <https://www.sqlite.org/fileformat2.html>
///
/// Time and memory are linear in the size of the file, regardless of its contents: rows that claim an impossible size are
/// ignored.
final class PageScanner {
    /// The maximum number of times that a page is read as part of a chain: in an intact file once for each way of
    /// reading a leaf.
    private static let readings = 8
    /// The maximum size of the rows of a page, as a multiple of its size: 1 in an intact file.
    private static let overlap = 4

    private let file: FileHandle
    private let pageSize: Int
    private let pageCount: Int
    /// The number of pages of chains that may still be read.
    private var chainBudget: Int
    /// The number of bytes of rows that the present page may still contain.
    private var pageBudget = 0

    /// Opens a file, which must not be in use and must not have a log.
    init(path: String) throws {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        let header = [UInt8](try file.read(upToCount: 100) ?? Data())
        let written = header.count < 18 ? 0 : Int(header[16]) << 8 | Int(header[17])
        let size = written == 1 ? 65536 : written
        // If the header is damaged: the page size of this program.
        pageSize = size >= 512 && size <= 65536 && size.nonzeroBitCount == 1 ? size : 4096
        pageCount = Int(try file.seekToEnd()) / pageSize
        chainBudget = Self.readings * pageCount
        self.file = file
    }

    func forEachRow(_ body: (RawRow) throws -> Void) throws {
        for number in 1...max(1, pageCount) {
            guard let page = try page(number) else { continue }
            try forEachRow(of: page, number, headerCount: 8, isTable: true, body)
            for headerCount in [8, 12] {
                try forEachRow(of: page, number, headerCount: headerCount, isTable: false, body)
            }
        }
    }

    private func page(_ number: Int) throws -> [UInt8]? {
        guard number >= 1, number <= pageCount else { return nil }
        try file.seek(toOffset: UInt64((number - 1) * pageSize))
        let bytes = [UInt8](try file.read(upToCount: pageSize) ?? Data())
        return bytes.count == pageSize ? bytes : nil
    }

    // MARK: Cells

    /// Reads the rows of a page. Leaves have a header of 8 bytes; other pages have one of 12, and a page number in each
    /// cell.
    private func forEachRow(
        of page: [UInt8], _ number: Int, headerCount: Int, isTable: Bool, _ body: (RawRow) throws -> Void
    ) throws {
        let start = number == 1 ? 100 : 0
        let count = min(Int(page[start + 3]) << 8 | Int(page[start + 4]), pageSize / 4)
        pageBudget = Self.overlap * pageSize
        for index in 0..<count {
            let pointer = start + headerCount + 2 * index
            guard pointer + 1 < pageSize else { break }
            var cell = ByteCursor(page, at: Int(page[pointer]) << 8 | Int(page[pointer + 1]))
            if headerCount == 12 { cell.skip(4) }
            if let row = try row(&cell, number, isTable: isTable) { try body(row) }
        }
    }

    private func row(_ cell: inout ByteCursor, _ number: Int, isTable: Bool) throws -> RawRow? {
        guard let count = cell.varint(), count > 0, count <= pageCount * pageSize else { return nil }
        var rowID: Int64?
        if isTable {
            guard let id = cell.varint() else { return nil }
            rowID = id
        }
        var pages = [number]
        guard let payload = try payload(&cell, count: Int(count), isTable: isTable, &pages),
            let values = Self.values(payload)
        else { return nil }
        return RawRow(rowID: rowID, values: values, pages: pages)
    }

    /// Returns the payload of a cell. The part that does not fit into the page is in a chain of overflow pages.
    private func payload(
        _ cell: inout ByteCursor, count: Int, isTable: Bool, _ pages: inout [Int]
    ) throws -> [UInt8]? {
        let longest = isTable ? pageSize - 35 : (pageSize - 12) * 64 / 255 - 23
        guard count > longest else { return take(count, of: &cell) }
        let shortest = (pageSize - 12) * 32 / 255 - 23
        let fitting = shortest + (count - shortest) % (pageSize - 4)
        guard let head = take(fitting <= longest ? fitting : shortest, of: &cell), let first = cell.bigEndian(4),
            Self.columnsFit(head, count)
        else { return nil }
        return try chain(from: first, after: head, count: count, &pages)
    }

    private func take(_ count: Int, of cell: inout ByteCursor) -> [UInt8]? {
        guard count <= pageBudget, let bytes = cell.bytes(count) else { return nil }
        pageBudget -= count
        return bytes
    }

    /// Reads a chain of overflow pages. A chain that reaches a page twice is invalid.
    private func chain(from first: Int, after head: [UInt8], count: Int, _ pages: inout [Int]) throws -> [UInt8]? {
        var (payload, next) = (head, first)
        var visited: Set<Int> = []
        while payload.count < count {
            guard chainBudget > 0, visited.insert(next).inserted, let page = try page(next) else { return nil }
            chainBudget -= 1
            var rest = ByteCursor(page, at: 0)
            guard let following = rest.bigEndian(4),
                let piece = rest.bytes(min(pageSize - 4, count - payload.count))
            else { return nil }
            payload += piece
            pages.append(next)
            next = following
        }
        return payload
    }

    // MARK: Records

    private static func values(_ payload: [UInt8]) -> [RawRow.Value]? {
        var header = ByteCursor(payload, at: 0)
        guard let headerCount = header.varint(), headerCount <= 64 else { return nil }
        var body = ByteCursor(payload, at: Int(headerCount))
        var values: [RawRow.Value] = []
        while header.position < headerCount {
            guard let type = header.varint(), let value = value(type, &body) else { return nil }
            values.append(value)
        }
        return values.isEmpty ? nil : values
    }

    /// Whether the sizes of a record's columns add up to its size, which is checked before its pages are read. In a
    /// page, more bytes may follow, as SQLite permits.
    private static func columnsFit(_ head: [UInt8], _ count: Int) -> Bool {
        var header = ByteCursor(head, at: 0)
        guard let headerCount = header.varint(), headerCount <= 64 else { return false }
        var total = Int(headerCount)
        while header.position < headerCount {
            guard let type = header.varint(), let size = size(type), size <= count else { return false }
            total += size
        }
        return total == count
    }

    private static func size(_ type: Int64) -> Int? {
        switch type {
        case 0, 8, 9: 0
        case 1...4: Int(type)
        case 5: 6
        case 6: 8
        case 12...: Int((type - 12) / 2)
        default: nil
        }
    }

    private static func value(_ type: Int64, _ body: inout ByteCursor) -> RawRow.Value? {
        switch type {
        case 0: return .null
        case 1...4: return body.integer(Int(type)).map { .integer($0) }
        case 5: return body.integer(6).map { .integer($0) }
        case 6: return body.integer(8).map { .integer($0) }
        case 8, 9: return .integer(type - 8)
        case 12...: return body.bytes(Int((type - 12) / 2)).map { .bytes($0) }
        default: return nil
        }
    }
}

/// A position in bytes, with bounds checks.
private struct ByteCursor {
    private let source: [UInt8]
    private(set) var position: Int

    init(_ source: [UInt8], at position: Int) {
        self.source = source
        self.position = position
    }

    var isAtEnd: Bool { position == source.count }

    mutating func skip(_ count: Int) { position += count }

    mutating func bytes(_ count: Int) -> [UInt8]? {
        guard count >= 0, position >= 0, count <= source.count - position else { return nil }
        defer { position += count }
        return Array(source[position..<position + count])
    }

    mutating func bigEndian(_ count: Int) -> Int? {
        bytes(count)?.reduce(0) { $0 << 8 | Int($1) }
    }

    /// Two's complement, most significant byte first.
    mutating func integer(_ count: Int) -> Int64? {
        guard let bytes = bytes(count), let first = bytes.first else { return nil }
        return bytes.reduce(first >= 0x80 ? -1 : 0) { $0 << 8 | Int64($1) }
    }

    /// Reads a number with seven bits per byte, eight in the ninth.
    mutating func varint() -> Int64? {
        var value: UInt64 = 0
        for index in 0..<9 {
            guard let byte = bytes(1)?.first else { return nil }
            if index == 8 { return Int64(bitPattern: value << 8 | UInt64(byte)) }
            value = value << 7 | UInt64(byte & 0x7F)
            if byte < 0x80 { break }
        }
        return Int64(bitPattern: value)
    }
}
