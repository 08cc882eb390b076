import Foundation
import GRDB
import Keychain
import Synchronization
import Testing

@testable import KeychainStorage

@Suite("S8: deleted or overwritten data is removed from the files", .serialized)
struct LogEraserTests {
    /// The times of truncations of the log, relative to the creation of this value.
    private final class Log: Sendable {
        private let start = ContinuousClock.now
        private let times = Mutex<[Duration]>([])

        var erasures: [Duration] { times.withLock { $0 } }

        func note() { times.withLock { $0.append(start.duration(to: .now)) } }
    }

    private struct Failed: Error {}

    /// Commits every 20 ms for `seconds`; the first one erases.
    private func commit(_ eraser: LogEraser, for seconds: Double, erasing: Bool = true) {
        let end = ContinuousClock.now + .seconds(seconds)
        eraser.committed(erasing: erasing)
        while ContinuousClock.now < end {
            usleep(20_000)
            eraser.committed(erasing: false)
        }
    }

    private func wait(_ condition: () throws -> Bool, seconds: Double = 5) rethrows {
        let end = ContinuousClock.now + .seconds(seconds)
        while try !condition(), ContinuousClock.now < end { usleep(5000) }
    }

    @Test("S8: the times of a store are what the contract says")
    func times() throws {
        #expect(LogEraser.Delays.contract == LogEraser.Delays(quiet: .seconds(1), longest: .seconds(60)))
        let scratch = try TemporaryDirectory()
        let store = try SQLiteRecordStore.create(at: scratch.keychain) { $0 }
        defer { store.close() }
        #expect(try store.current().eraser.times == .contract)
    }

    @Test("S8: emptied once when no commit came for a while, and not without a deletion or an overwriting")
    func quiet() {
        let eraser = LogEraser(times: LogEraser.Delays(quiet: .milliseconds(300), longest: .seconds(60)))
        let log = Log()
        eraser.begin { log.note() }
        defer { eraser.close() }
        commit(eraser, for: 0.4, erasing: false)
        usleep(500_000)
        #expect(log.erasures == [])
        let begin = Log()
        commit(eraser, for: 0.6)
        begin.note()
        wait { !log.erasures.isEmpty }
        begin.note()
        let quiet = begin.erasures[1] - begin.erasures[0]
        #expect(quiet > .milliseconds(200) && quiet < .milliseconds(1500), "\(quiet) after the last commit")
        usleep(500_000)
        #expect(log.erasures.count == 1)
    }

    @Test("S8: a continuous series of commits delays truncation at most by `longest`")
    func longest() {
        let eraser = LogEraser(times: LogEraser.Delays(quiet: .milliseconds(500), longest: .seconds(1)))
        let log = Log()
        eraser.begin { log.note() }
        defer { eraser.close() }
        commit(eraser, for: 1.9)
        #expect(log.erasures.count == 1)
        #expect(log.erasures.allSatisfy { $0 > .milliseconds(950) && $0 < .milliseconds(1800) }, "\(log.erasures)")
    }

    @Test("S8: a failed truncation is retried, not immediately; urgent ones do not wait")
    func failures() throws {
        let eraser = LogEraser(times: LogEraser.Delays(quiet: .milliseconds(50), longest: .milliseconds(400)))
        let log = Log()
        let failures = Atomic<Int>(1)
        eraser.begin { () throws(KeychainFault) in
            log.note()
            if failures.exchange(0, ordering: .relaxed) > 0 { throw .diskFull }
        }
        defer { eraser.close() }
        eraser.committed(erasing: true)
        wait { log.erasures.count == 2 }
        let times = log.erasures
        try #require(times.count == 2)
        #expect(times[1] - times[0] > .milliseconds(350))
        let urged = Log()
        eraser.eraseSoon()
        wait { log.erasures.count == 3 }
        urged.note()
        #expect(urged.erasures[0] < .milliseconds(300))
    }

    // MARK: On a file

    /// Rows with recognizable ciphertexts, of lengths that are stored in the row, in the table of long ones, and on
    /// many pages.
    private struct Rows {
        var ciphertexts: [[UInt8]] = []

        mutating func put(_ id: Int64, count: Int, into store: SQLiteRecordStore) throws {
            var generator = SystemRandomNumberGenerator()
            let secret = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let metadata = (0..<128).map { _ in UInt8.random(in: 0...255, using: &generator) }
            var item = try Samples.item(id)
            item.metadata.ciphertext = metadata
            try store.write { [item] writer throws(KeychainFault) in try writer.putWithSecret(item, secret) }
            ciphertexts += [secret, metadata]
        }

        /// Returns the number of ciphertexts of which a part is in one of the files. A page holds 4,096 bytes, so every
        /// part of a long one is searched for.
        func found(at path: String) throws -> Int {
            let files = try ["", "-wal"].map { try Data(contentsOf: URL(fileURLWithPath: path + $0)) }
            return ciphertexts.count { bytes in
                stride(from: 0, to: bytes.count - 24, by: 997).contains { start in
                    files.contains { $0.range(of: Data(bytes[start..<start + 24])) != nil }
                }
            }
        }
    }

    private func isLogEmpty(_ scratch: TemporaryDirectory) throws -> Bool {
        try scratch.size(of: "login.keychain-wal") == 0
    }

    @Test(
        "S8: a second after deletions or overwrites no byte of the old ciphertexts is in the file or its log",
        arguments: [[true], [false], [true, false]])
    func nothingLeft(deleting: [Bool]) throws {
        let scratch = try TemporaryDirectory()
        let store = try SQLiteRecordStore.create(at: scratch.keychain) { $0 }
        defer { store.close() }
        var old = Rows()
        var new = Rows()
        for id in 1...60 { try old.put(Int64(id), count: [40, 700, 1024, 3000, 20_000][id % 5], into: store) }
        try #require(try old.found(at: scratch.keychain) == 120)
        try store.checkpoint()
        try #require(try old.found(at: scratch.keychain) == 120)
        for id in 1...60 {
            if deleting[id % deleting.count] {
                try store.write { writer throws(KeychainFault) in try writer.deleteItem(RowID(rawValue: Int64(id))) }
            } else {
                try new.put(Int64(id), count: [20_000, 40, 3000, 1024, 700][id % 5], into: store)
            }
        }
        let last = ContinuousClock.now
        #expect(try old.found(at: scratch.keychain) > 0, "found where it is")
        try wait { try isLogEmpty(scratch) }
        let elapsed = last.duration(to: .now)
        #expect(elapsed > .milliseconds(900) && elapsed < .milliseconds(2500), "\(elapsed)")
        #expect(try old.found(at: scratch.keychain) == 0)
        #expect(try new.found(at: scratch.keychain) == new.ciphertexts.count)
    }

    @Test("S8: a lock is followed by a truncation within a second, for any earlier commits")
    func afterLock() throws {
        let scratch = try TemporaryDirectory()
        let fixture = try SQLiteKeychainFixture(creating: scratch.keychain)
        defer { fixture.close() }
        // No deletion, no overwriting of a row: only the lock is a reason.
        try fixture.add("a", [1, 2, 3])
        try fixture.store.checkpoint()
        try fixture.store.write { writer throws(KeychainFault) in
            try writer.put(try Samples.translated { try Samples.item(9000, directory: 9001) }, secret: nil)
        }
        #expect(try !isLogEmpty(scratch))
        fixture.keychain.lock()
        let locked = ContinuousClock.now
        try wait { try isLogEmpty(scratch) }
        #expect(locked.duration(to: .now) < .seconds(1))
        #expect(try isLogEmpty(scratch))
    }
}

extension Samples {
    fileprivate static func translated<Value>(_ body: () throws -> Value) throws(KeychainFault) -> Value {
        do { return try body() } catch { throw .param }
    }
}
