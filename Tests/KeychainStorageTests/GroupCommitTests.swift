import Foundation
import Glibc
import Synchronization
import Testing

@testable import Keychain
@testable import KeychainStorage

@Suite("F4: changes that share a transaction, on a real file")
struct GroupCommitTests {
    /// Adds an item, then does something else, then throws `error`.
    private struct Adding: TransactionStep {
        let item: Item
        var error: KeychainFault?
        var afterCommit: @Sendable () -> Void = {}

        func run(_ change: Transaction) throws(KeychainFault) {
            let contents = [UInt8](repeating: 5, count: item.secretCount ?? 0)
            _ = try change.save(item, secret: StoredContents(bytes: contents))
            afterCommit()
            if let error { throw error }
        }
    }

    private func adding(
        _ account: String, count: Int = 20, to fixture: SQLiteKeychainFixture, then error: KeychainFault? = nil
    ) throws(KeychainFault) -> Adding {
        Adding(item: try fixture.item(account, count: count), error: error)
    }

    @Test("F4: a write that throws is rolled back alone; the other writes of the group are durable, by one transaction")
    func throwingMember() throws {
        let scratch = try TemporaryDirectory()
        let fixture = try SQLiteKeychainFixture(creating: scratch.keychain)
        defer { fixture.close() }
        let before = try fixture.commitNumber
        let outcomes = try ConcurrentWriters.run(
            on: fixture,
            [
                try adding("first", to: fixture), try adding("second", to: fixture),
                try adding("third", to: fixture, then: .param),
                try adding("fourth", count: 5000, to: fixture), try adding("fifth", to: fixture, then: .duplicateItem),
            ])
        #expect(outcomes == [nil, nil, .param, nil, .duplicateItem])
        #expect(try fixture.commitNumber == before + 1)
        let crashed = try SQLiteKeychainFixture(crashing: fixture, scratch.keychain, copy: scratch["crashed"])
        defer { crashed.close() }
        for store in [fixture, crashed] {
            #expect(try store.contents("first")?.count == 20 && store.contents("second")?.count == 20)
            #expect(try store.contents("fourth")?.count == 5000)
            #expect(try store.contents("third") == nil && store.contents("fifth") == nil)
            #expect(try store.keychain.itemCount() == 3)
            #expect(try store.isConsistent)
        }
    }

    /// The step with which the tree commits a file: it updates the modification time of its directory.
    private struct Touching: TransactionStep {
        let directory: RowID
        /// Sets the time itself, as utimens(2) does.
        var date: KeychainDate?

        func run(_ change: Transaction) throws(KeychainFault) {
            guard let date else { return try change.touchDirectory(directory) }
            guard var found = try change.directory(id: directory) else { throw .itemNotFound }
            found.file.modificationTime = date
            _ = try change.save(found)
        }
    }

    @Test(
        "F4, F8: a directory gets one change for many additions in one transaction, and another after utimens"
    )
    func touches() throws {
        let scratch = try TemporaryDirectory()
        let fixture = try SQLiteKeychainFixture(creating: scratch.keychain)
        defer { fixture.close() }
        let touching = Touching(directory: fixture.directory)
        let version = try #require(try fixture.keychain.directory(id: fixture.directory)).version
        let outcomes = try ConcurrentWriters.run(on: fixture, [touching] + (0..<5).map { _ in touching })
        #expect(outcomes.allSatisfy { $0 == nil })
        #expect(try fixture.keychain.directory(id: fixture.directory)?.version == version + 1)
        let past = KeychainDate(seconds: 5)
        var setting = touching
        setting.date = past
        _ = try ConcurrentWriters.run(on: fixture, [setting, setting])
        #expect(try fixture.keychain.directory(id: fixture.directory)?.file.modificationTime == past)
        // In any order of arrival, the time is the past one only if that was set last.
        _ = try fixture.keychain.change { change throws(KeychainFault) in
            try touching.run(change)
            try setting.run(change)
            try touching.run(change)
            try touching.run(change)
        }
        #expect(try fixture.keychain.directory(id: fixture.directory)?.file.modificationTime == .sample)
        #expect(try fixture.keychain.directory(id: fixture.directory)?.version == version + 6)
        #expect(try fixture.isConsistent)
    }

    @Test("F4: if the first write throws, the next ones have a separate transaction")
    func throwingFirst() throws {
        let scratch = try TemporaryDirectory()
        let fixture = try SQLiteKeychainFixture(creating: scratch.keychain)
        defer { fixture.close() }
        let before = try fixture.commitNumber
        let outcomes = try ConcurrentWriters.run(
            on: fixture,
            [
                try adding("first", to: fixture, then: .param), try adding("second", to: fixture),
                try adding("third", to: fixture),
            ])
        #expect(outcomes == [.param, nil, nil])
        #expect(try fixture.commitNumber == before + 1)
        #expect(try fixture.contents("first") == nil && fixture.contents("third")?.count == 20)
        #expect(try fixture.isConsistent)
    }

    @Test("F4, F9: a COMMIT on a full disk fails all writes of the group, leaves no change, and the next COMMIT works")
    func failingCommit() throws {
        let disk = try SmallFileSystem(kilobytes: 2048)
        let path = disk.path + "/login.keychain"
        let fixture = try SQLiteKeychainFixture(creating: path)
        try fixture.add("before", [1, 2, 3])
        let before = try fixture.commitNumber
        // All of it fits into SQLite's page cache: nothing is written before the COMMIT.
        let filler = URL(fileURLWithPath: disk.path + "/filler")
        var first = try adding("first", count: 50_000, to: fixture)
        first.afterCommit = { Self.fill(filler.path) }
        let outcomes = try ConcurrentWriters.run(
            on: fixture,
            [
                first, try adding("second", count: 50_000, to: fixture), try adding("third", to: fixture, then: .param),
                try adding("fourth", to: fixture),
            ])
        #expect(outcomes == [.diskFull, .diskFull, .param, .diskFull])
        #expect(try fixture.commitNumber == before)
        #expect(try fixture.keychain.itemCount() == 1 && fixture.contents("before") == [1, 2, 3])
        #expect(try fixture.isConsistent)
        #expect(throws: KeychainFault.diskFull) { try fixture.add("again", [UInt8](repeating: 1, count: 50_000)) }
        try FileManager.default.removeItem(at: filler)
        try fixture.add("after", [4])
        #expect(try fixture.commitNumber == before + 1)
        #expect(try fixture.isConsistent)
        fixture.close()
        let again = try SQLiteKeychainFixture(opening: path, directory: fixture.directory)
        defer { again.close() }
        #expect(try again.contents("after") == [4] && again.contents("before") == [1, 2, 3])
        #expect(try again.keychain.itemCount() == 2)
        #expect(try again.isConsistent)
    }

    /// Writes zeros until the disk is full to the last byte.
    private static func fill(_ path: String) {
        let descriptor = open(path, O_WRONLY | O_CREAT, 0o600)
        let zeros = [UInt8](repeating: 0, count: 4096)
        for size in [4096, 1] { while write(descriptor, zeros, size) > 0 {} }
        close(descriptor)
    }

    @Test("F4: more than share one transaction at most are committed by the next one", arguments: [32, 70])
    func concurrent(count: Int) throws {
        let scratch = try TemporaryDirectory()
        let fixture = try SQLiteKeychainFixture(creating: scratch.keychain)
        defer { fixture.close() }
        let before = try fixture.commitNumber
        let outcomes = try ConcurrentWriters.run(
            on: fixture, (0..<count).map { try adding("account \($0)", to: fixture) })
        #expect(outcomes.allSatisfy { $0 == nil })
        #expect(try fixture.commitNumber == before + (count > 64 ? 2 : 1))
        let crashed = try SQLiteKeychainFixture(crashing: fixture, scratch.keychain, copy: scratch["crashed"])
        defer { crashed.close() }
        for number in 0..<count { #expect(try crashed.contents("account \(number)")?.count == 20) }
        #expect(try crashed.isConsistent)
    }

    @Test("F1, F4: with 32 concurrent writers, acknowledged data survives a crash, by fewer transactions")
    func writers() throws {
        let scratch = try TemporaryDirectory()
        let fixture = try SQLiteKeychainFixture(creating: scratch.keychain)
        defer { fixture.close() }
        let before = try fixture.commitNumber
        let acknowledged = Mutex<[String: [UInt8]]>([:])
        let done = DispatchGroup()
        for writer in 0..<32 {
            done.enter()
            Thread.detachNewThread {
                for number in 0..<8 {
                    let account = "writer \(writer) item \(number)"
                    let contents = [UInt8](repeating: UInt8(writer), count: 10 + number * 300)
                    guard (try? fixture.add(account, contents)) != nil else { continue }
                    acknowledged.withLock { $0[account] = contents }
                }
                done.leave()
            }
        }
        done.wait()
        let commits = try fixture.commitNumber - before
        #expect(commits >= 256 / 64 && commits <= 128, "\(commits) transactions for 256 changes")
        let crashed = try SQLiteKeychainFixture(crashing: fixture, scratch.keychain, copy: scratch["crashed"])
        defer { crashed.close() }
        let records = acknowledged.withLock { $0 }
        #expect(records.count == 256)
        for (account, contents) in records { #expect(try crashed.contents(account) == contents) }
        #expect(try crashed.keychain.itemCount() == 256)
        #expect(try crashed.commitNumber == before + commits)
        #expect(try crashed.isConsistent)
    }
}
