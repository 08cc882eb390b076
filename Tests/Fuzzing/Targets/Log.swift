import FileSystemTesting
import Foundation
import Keychain
import KeychainStorage

/// S4: the write-ahead log of a keychain that was not closed, with bytes of its frames changed. The first byte of an
/// input selects where the log ends and whether the checksums are recomputed. Changes follow: the frame, the place in it, the bytes.
///
/// A refused log leaves both files as they are. SQLite ignores an ignored log, too. Only values that were written are read.
extension FuzzTarget {
    static let log = FuzzTarget("log", limit: 256, cases: 30, examples: { logExamples }) { input in
        let fixture = try LogFixture.loaded.get()
        var reader = InputReader(input)
        let ending = Int(reader.byte())
        var log = fixture.log
        if ending & 1 == 1 { log.bytes.removeLast(log.bytes.count * (ending >> 2) / 64) }
        while !reader.isAtEnd { log.change(&reader) }
        if ending & 2 == 2 { log.sign() }
        try fixture.store.withCopy(fixture.store.bytes, log: log.bytes) { path in
            switch LogFixture.finding(path) {
            case .ignored: try fixture.expect(path) { $0 == 0 }
            case .recovered: try fixture.expect(path) { log.bytes != fixture.log.bytes || $0 == LogFixture.commits }
            case .refused:
                try hold(log.bytes != fixture.log.bytes, "the keychain's own log is refused")
                let before = try LogFixture.files(path)
                try hold((try? fixture.store.open(path).close()) == nil, "opened with a log that is refused")
                try hold(try LogFixture.files(path) == before, "a refused log changes a file")
            }
        }
    }

    private static let logExamples: [[UInt8]] =
        [[], [0], [2]] + (0..<UInt8(32)).map { [$0 &* 9, $0, $0 &* 37, $0 % 16, 2, $0, 255] }
}

/// The bytes of a log; <https://www.sqlite.org/fileformat2.html#the_write_ahead_log>.
struct LogBytes {
    static let frameSize = 4120
    var bytes: [UInt8]

    /// Overwrites some bytes of the header (frame 0) or of a frame.
    mutating func change(_ reader: inout InputReader) {
        let frames = max(1, (bytes.count - 32) / Self.frameSize)
        let frame = Int(reader.byte()) % (frames + 1)
        let place = (Int(reader.byte()) | Int(reader.byte()) << 8) % (frame == 0 ? 32 : Self.frameSize)
        let start = (frame == 0 ? 0 : 32 + (frame - 1) * Self.frameSize) + place
        for (offset, byte) in reader.bytes(Int(reader.byte()) % 32).enumerated() where start + offset < bytes.count {
            bytes[start + offset] = byte
        }
    }

    /// Recomputes all checksums, as for a forged log.
    mutating func sign() {
        guard bytes.count >= 32 else { return }
        var sum: (UInt32, UInt32) = (0, 0)
        add(0..<24, to: &sum)
        write(sum, at: 24)
        for start in stride(from: 32, through: bytes.count - Self.frameSize, by: Self.frameSize) {
            add(start..<start + 8, to: &sum)
            add(start + 24..<start + Self.frameSize, to: &sum)
            write(sum, at: start + 16)
        }
    }

    private func add(_ range: Range<Int>, to sum: inout (UInt32, UInt32)) {
        let isBigEndian = bytes[3] & 1 == 1
        for index in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
            sum.0 = sum.0 &+ word(index, isBigEndian) &+ sum.1
            sum.1 = sum.1 &+ word(index + 4, isBigEndian) &+ sum.0
        }
    }

    private func word(_ index: Int, _ isBigEndian: Bool) -> UInt32 {
        let word = bytes[index..<index + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return isBigEndian ? word : word.byteSwapped
    }

    private mutating func write(_ sum: (UInt32, UInt32), at index: Int) {
        for (place, word) in [sum.0, sum.1].enumerated() {
            for byte in 0..<4 { bytes[index + 4 * place + byte] = UInt8(truncatingIfNeeded: word >> (24 - 8 * byte)) }
        }
    }
}

/// The keychain of ``StoreFixture`` with a log of three commits, each of which replaces the value of one item.
private final class LogFixture: Sendable {
    static let commits = 3
    static let loaded = Result { try LogFixture() }
    private static let path = "/generic-passwords/fuzz/item"

    let store: StoreFixture
    let log: LogBytes

    private init() throws {
        let store = try StoreFixture.loaded.get()
        self.store = store
        var bytes: [UInt8] = []
        try store.withCopy(store.bytes) { path in
            let keychain = try store.open(path)
            defer { keychain.close() }
            let client = StoreFixture.client(keychain)
            try client.mkdir("/generic-passwords/fuzz", mode: 0o700)
            for number in 1...Self.commits { try client.put(Self.path, [UInt8](repeating: UInt8(number), count: 2000)) }
            bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + "-wal")))
        }
        log = LogBytes(bytes: bytes)
    }

    enum Finding { case ignored, recovered, refused }

    static func finding(_ path: String) -> Finding {
        do throws(StoreOpenError) {
            try SQLiteRecordStore.open(path: path, access: .readOnly).close()
            return .ignored
        } catch .needsRecovery {
            return .recovered
        } catch {
            return .refused
        }
    }

    static func files(_ path: String) throws -> [Data?] {
        [try Data(contentsOf: URL(fileURLWithPath: path)), try? Data(contentsOf: URL(fileURLWithPath: path + "-wal"))]
    }

    /// Opens the keychain with its log. The other items are what they were, or damaged, and the number of the item's value (0 if it is
    /// not there) satisfies `condition`.
    func expect(_ path: String, _ condition: (Int) -> Bool) throws {
        guard let opened = try? store.open(path) else {
            return try hold(condition(0), "a keychain with its own log does not open")
        }
        defer { opened.close() }
        _ = try store.differences(opened)
        guard let read = try? StoreFixture.client(opened).contents(Self.path) else {
            return try hold(condition(0), "the item of the log is not there")
        }
        let number = Int(read.first ?? 0)
        try hold(
            (1...Self.commits).contains(number) && read == [UInt8](repeating: UInt8(number), count: 2000),
            "other bytes than were written")
        try hold(condition(number), "value \(number) of the log")
    }
}
