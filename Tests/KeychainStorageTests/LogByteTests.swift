import Foundation
import KeychainTesting
import SecretCrypto
import Synchronization
import Testing

@testable import Keychain
@testable import KeychainStorage

/// Keeps the commit number in memory.
private final class FakeCommitNumberStore: CommitNumberStore {
    private let record = Mutex<[UInt8]?>(nil)

    func load(for store: [UInt8]) -> [UInt8]? { record.withLock { $0 } }
    func save(_ record: [UInt8], for store: [UInt8]) throws(KeychainFault) { self.record.withLock { $0 = record } }
}

/// The files after a crash, with one bit of the write-ahead log flipped: SQLite ignores that frame and all later ones,
/// and thus acknowledged commits.
@Suite("S2, S4: changed bytes of the log")
struct LogByteTests {
    private static let device = [UInt8](repeating: 1, count: 32)

    /// Files as they are after each of some commits, and the values then.
    private struct Crash {
        let database: Data
        let log: Data
        /// After each commit: contents by account.
        let history: [[String: [UInt8]]]
        /// The number of these commits whose number this device has stored.
        let kept: Int
        let directory: RowID
        let record: [UInt8]
    }

    private static func open(
        _ path: String, _ commitNumberStore: FakeCommitNumberStore
    ) throws -> (keychain: KeychainStore, unlock: () throws -> Void) {
        let store = try SQLiteRecordStore.open(path: path)
        let ring = try KeyRing(
            store: store, device: SecretBytes(copying: device.rawSpan), commitNumberStore: commitNumberStore)
        let keychain = KeychainStore(store: store, keys: ring) { .sample }
        return (keychain, { try ring.unlock(passphrase: SecretBytes(copying: Array("correct".utf8).rawSpan)) })
    }

    private static func crash() throws -> Crash {
        let scratch = try TemporaryDirectory()
        let fixture = try SQLiteKeychainFixture(creating: scratch.keychain)
        for name in ["a", "b", "c"] { try fixture.add(name, Array("old \(name)".utf8)) }
        let commitNumberStore = FakeCommitNumberStore()
        try commitNumberStore.save(fixture.ring.encodedState().bytes, for: [])
        fixture.close()
        let (keychain, unlock) = try open(scratch.keychain, commitNumberStore)
        defer { keychain.close() }
        try unlock()
        var values = ["a": Array("old a".utf8), "b": Array("old b".utf8), "c": Array("old c".utf8)]
        var history = [values]
        var (kept, record): (Int, [UInt8]?) = (0, nil)
        for (number, name) in ["a", "b", "c", "a", "b"].enumerated() {
            let contents = [UInt8](repeating: UInt8(number), count: 300 + 400 * number)
            let item = try #require(
                try keychain.item(named: CanonicalName(account: .string(name)), in: fixture.directory))
            try keychain.change { change throws(KeychainFault) in
                _ = try change.save(item, secret: StoredContents(bytes: contents))
            }
            values[name] = contents
            history.append(values)
            if number == 2 {
                try keychain.keys.keepCommitNumber()
                (kept, record) = (number + 1, commitNumberStore.load(for: []))
            }
        }
        let (database, log) = (URL(fileURLWithPath: scratch.keychain), URL(fileURLWithPath: scratch.keychain + "-wal"))
        return Crash(
            database: try Data(contentsOf: database), log: try Data(contentsOf: log), history: history, kept: kept,
            directory: fixture.directory, record: try #require(record))
    }

    /// Returns the number of commits in the opened store; nil if it is reported as too old.
    private static func found(_ crash: Crash, log: Data) throws -> Int? {
        let scratch = try TemporaryDirectory()
        try crash.database.write(to: URL(fileURLWithPath: scratch.keychain))
        try log.write(to: URL(fileURLWithPath: scratch.keychain + "-wal"))
        let commitNumberStore = FakeCommitNumberStore()
        try commitNumberStore.save(crash.record, for: [])
        let (keychain, unlock) = try open(scratch.keychain, commitNumberStore)
        defer { keychain.close() }
        do { try unlock() } catch KeychainFault.rolledBack { return nil }
        var values: [String: [UInt8]] = [:]
        for name in ["a", "b", "c"] {
            let found = try keychain.item(named: CanonicalName(account: .string(name)), in: crash.directory)
            guard let item = found else { continue }
            values[name] = try FixtureContents.value(item.id, keychain)?.contents
        }
        #expect(try keychain.check().isConsistent)
        let commit: Int = try #require(crash.history.firstIndex(of: values), "a mixture: \(values.keys.sorted())")
        return commit
    }

    @Test("S2: a log truncated at any bit yields the committed state, or an older state that is detected")
    func flips() throws {
        let length = ProofLength(cases: 200)
        let crash = try Self.crash()
        let last = crash.history.count - 1
        #expect(try Self.found(crash, log: crash.log) == last)
        #expect(try Self.found(crash, log: Data()) == nil)
        var (cases, detected, older) = (0, 0, 0)
        for number in length.spread(crash.log.count * 8) {
            guard !length.isOver(after: cases) else { break }
            var log = crash.log
            log[number / 8] ^= 1 << UInt8(number % 8)
            let found = try Self.found(crash, log: log)
            let place = "KEYCHAINFS_PROOF_SEED=\(number): byte \(number / 8) of the log"
            // Commits after the stored number cannot be missed.
            #expect(
                found.map { $0 >= crash.kept } ?? true,
                "\(place): values of commit \(found ?? -1), which is not detected")
            if found == nil { detected += 1 } else if found != last { older += 1 }
            cases += 1
        }
        #expect(detected > 0 && older > 0)
        length.report("log-bytes", cases: cases)
    }

    @Test("S2: a log of which the end is missing")
    func cuts() throws {
        let length = ProofLength(cases: 100)
        let crash = try Self.crash()
        var cases = 0
        for count in length.spread(crash.log.count) {
            guard !length.isOver(after: cases) else { break }
            let found = try Self.found(crash, log: crash.log.prefix(count))
            let place = "KEYCHAINFS_PROOF_SEED=\(count): \(count) bytes of the log"
            #expect(
                found.map { $0 >= crash.kept } ?? true,
                "\(place): values of commit \(found ?? -1), which is not detected")
            cases += 1
        }
        #expect(cases > 0)
        length.report("log-cuts", cases: cases)
    }
}
