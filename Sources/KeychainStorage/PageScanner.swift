internal import Foundation
internal import SystemPackage

/// One row as it lies in a page: a value per column. Columns hold no text and no floating point numbers; what claims to be
/// text is one bit away from the bytes that it was.
struct RawRow {
    enum Value: Equatable {
        case null
        case integer(Int64)
        case bytes([UInt8])
    }

    /// Nil in the tree of an index.
    let rowID: Int64?
    let values: [Value]
    /// Where it lies: its page, and those that it goes on in.
    let pages: [Int]
}

/// The rows of an SQLite file, page by page, whatever the trees above them say: what is left where those are damaged.
///
/// Every page is read as a leaf, also where it says to be something else, because that may be the damage: what does not
/// look like a row is none. <https://www.sqlite.org/fileformat2.html>
///
/// Whatever the file says, time and memory grow with its size and no faster: rows that claim more than there can be are none.
final class PageScanner {
    /// So often a page can be read as a part of a chain: in a whole file once for each way in which a leaf is read.
    private static let readings = 8
    /// So many times its size a page can hold in rows: in a whole file once.
    private static let overlap = 4

    private let file: FileHandle
    private let pageSize: Int
    private let pageCount: Int
    /// Pages of chains that may be read yet.
    private var chainBudget: Int
    /// Bytes of rows that the present page may hold yet.
    private var pageBudget = 0

    /// The file is not in use, and has no log.
    init(path: String) throws {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        let header = [UInt8](try file.read(upToCount: 100) ?? Data())
        let written = header.count < 18 ? 0 : Int(header[16]) << 8 | Int(header[17])
        let size = written == 1 ? 65536 : written
        // Damaged: as this program writes it.
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

    /// Leaves have a header of 8 bytes, others one of 12 and in each cell the number of a page.
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

    /// What does not fit into a page goes on in a chain of others.
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

    /// A chain that comes to a page for the second time is none.
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

    /// Whether the columns that a record says to have are as long as all of it: told before its pages are read. Within a
    /// page more may follow them, as SQLite has it.
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

/// A place in bytes that may end anywhere.
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

    /// Seven bits a byte, of the ninth all eight.
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
