import Foundation
import GRDB
import Glibc
import SystemPackage
import Testing

@testable import Keychain
@testable import KeychainStorage

/// Changes of an open database that another program makes.
@Suite struct ExternalChangeTests {
    private let scratch: TemporaryDirectory
    private let fixture: SQLiteKeychainFixture
    private var log: String { scratch.keychain + "-wal" }

    init() throws {
        scratch = try TemporaryDirectory()
        fixture = try SQLiteKeychainFixture(creating: scratch.keychain)
        try fixture.add("alice", Array("first".utf8))
        _ = try fixture.keychain.verifyNow()
    }

    /// Whether a change was found. The store has been verified again afterwards.
    private func isFound(_ look: () throws -> Void) throws -> Bool {
        try look()
        let isFound = fixture.keychain.integrity == .damaged
        if isFound { _ = try fixture.keychain.verifyNow() }
        return isFound
    }

    private func isFoundByLooking() throws -> Bool { try isFound { fixture.keychain.watchStore() } }

    private func isFoundByCommit() throws -> Bool {
        try isFound { try fixture.add("other \(UUID().uuidString)", [1]) }
    }

    /// File times have the resolution of the timer interrupt, 10 ms at most.
    private func waitForClock() { usleep(20_000) }

    private func write(_ path: String, at offset: Int64, _ bytes: [UInt8]) throws {
        let file = try FileDescriptor.open(FilePath(path), .writeOnly)
        try file.closeAfter { _ = try file.writeAll(toAbsoluteOffset: offset, bytes) }
    }

    private func bytes(_ path: String, at offset: Int64, count: Int) throws -> [UInt8] {
        let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? handle.close() }
        try handle.seek(toOffset: UInt64(offset))
        return [UInt8](try handle.read(upToCount: count) ?? Data())
    }

    @Test(
        "L5: a rekey stops before its next transaction after a change of the file or its log, until the rows are verified",
        arguments: ["", "-wal"])
    func duringRekey(suffix: String) throws {
        for number in 0..<3 * KeychainStore.rekeyPageSize { try fixture.add("\(number)", [1]) }
        try fixture.startRekey()
        let path = scratch.keychain + suffix
        var pages = 0
        #expect(throws: KeychainFault.rowsDiffer) {
            try fixture.keychain.rekey { _ in
                pages += 1
                if pages == 4 {
                    waitForClock()
                    // Neither the size nor a row changes.
                    try? bytes(path, at: 0, count: 1).withUnsafeBytes { try write(path, at: 0, Array($0)) }
                }
                return true
            }
        }
        #expect(pages == 4)
        try fixture.keychain.rekey()
        #expect(fixture.keychain.rekeyProgress.phase == .finished)
        #expect(try fixture.isConsistent)
    }

    @Test("S2: nothing that this process does with its keychain is taken for a change by another program")
    func ownChanges() throws {
        let store = fixture.store
        for round in 0..<40 {
            switch round % 8 {
            case 0: for number in 0..<20 { try fixture.add("\(round) \(number)", [UInt8](repeating: 1, count: 3000)) }
            case 1: try store.checkpoint()
            case 2: try store.truncateLog()
            case 3: _ = try store.verifyStructure()
            case 4: _ = try store.read { (reader) throws(KeychainFault) in try reader.itemCount() }
            case 5:
                #expect(throws: KeychainFault.param) {
                    try fixture.keychain.change { change throws(KeychainFault) in
                        _ = try change.save(
                            fixture.item("rolled back \(round)", count: 1), secret: StoredContents(bytes: [1]))
                        throw .param
                    }
                }
            case 6: try fixture.add("large \(round)", [UInt8](repeating: 2, count: 5_000_000))
            default:
                fixture.ring.lock()
                try fixture.unlock()
            }
            #expect(fixture.keychain.integrity != .damaged)
            if round % 3 == 0 { #expect(try !isFoundByLooking(), "round \(round)") }
        }
        fixture.close()
        let again = try SQLiteKeychainFixture(opening: scratch.keychain, directory: fixture.directory)
        again.keychain.watchStore()
        try again.add("again", [1])
        again.keychain.watchStore()
        #expect(again.keychain.integrity != .damaged)
        again.close()
        let reader = try SQLiteKeychainFixture(
            opening: scratch.keychain, directory: fixture.directory, access: .readOnly)
        reader.keychain.watchStore()
        #expect(reader.keychain.integrity != .damaged)
        reader.close()
    }

    @Test("S2: a write to the database is found by the next commit and by the next look, also with its old times")
    func database() throws {
        try fixture.store.checkpoint()
        #expect(try !isFoundByLooking())
        let page = try bytes(scratch.keychain, at: 4096, count: 100)
        for look in [isFoundByLooking, isFoundByCommit] {
            waitForClock()
            try write(scratch.keychain, at: 4096, page)
            #expect(try look())
            #expect(try !look())
        }
        waitForClock()
        let times = try FileManager.default.attributesOfItem(atPath: scratch.keychain)[.modificationDate] as? Date
        try write(scratch.keychain, at: 4096, page)
        try FileManager.default.setAttributes(
            [.modificationDate: try #require(times)], ofItemAtPath: scratch.keychain)
        #expect(try isFoundByCommit())
        fixture.close()
    }

    @Test("S2: the next check finds a write to the log; the next commit, too, finds a write that changes its size")
    func writeAheadLog() throws {
        let end = try #require(try scratch.size(of: "login.keychain-wal"))
        let frame = try bytes(log, at: 32, count: 24)
        // After a commit, and after a look.
        for _ in 0..<2 {
            waitForClock()
            try write(log, at: 32, frame)
            #expect(try isFoundByLooking())
            #expect(try !isFoundByLooking())
        }
        // The next commit compares the state that this check has recorded, too.
        waitForClock()
        try write(log, at: 32, frame)
        #expect(try isFoundByCommit())
        try write(log, at: Int64(end) + 100_000, [0])
        #expect(try isFoundByCommit())
        // Immediately after a commit the file's time may be older than the commit, so that only the size shows the
        // write. The log has preallocated space for further commits, and a query of its size would make its time exact.
        try fixture.add("size", [1])
        try write(log, at: 8 << 20, [0])
        #expect(try isFoundByLooking())
        // Emptying the log does not hide a write to it.
        try fixture.add("bob", [1])
        waitForClock()
        try write(log, at: 32, frame)
        #expect(try isFound(fixture.store.checkpoint))
        fixture.close()
    }

    /// SQLite, if it runs as root, sets the owner of the log when another connection opens it.
    @Test(
        "S2: opening the read connection during a transaction does not count as a change by another program",
        arguments: [true, false])
    func secondConnection(isLookedAt: Bool) throws {
        if isLookedAt { #expect(try !isFoundByLooking()) }
        waitForClock()
        let count = try fixture.store.current().snapshots.read { db throws(KeychainFault) in
            try KeychainFault.mapping(db) { try Int.fetchOne(db, sql: "SELECT count(*) FROM item") }
        }
        #expect(count == 1)
        #expect(try !isFoundByLooking())
        fixture.close()
    }

    @Test(
        "S2: a new owner of the log while a connection opens is not a change, and hides no earlier or concurrent one",
        arguments: [true, false])
    func owner(isLookedAt: Bool) throws {
        fixture.close()
        try Data(count: 100).write(to: URL(fileURLWithPath: log))
        var changes = ExternalChanges(path: scratch.keychain, logPath: log)
        func isChanged(_ before: () throws -> Void, whileOpening: () throws -> Void) throws -> Bool {
            changes.noteLog()
            if isLookedAt { _ = changes.find(isThorough: true) }
            waitForClock()
            try before()
            try changes.whileOpening { Result { try whileOpening() } }.get()
            return changes.find(isThorough: true)
        }
        func setOwner() { #expect(chown(log, geteuid(), getegid()) == 0) }
        func writeToLog() throws { try write(log, at: 10, [1]) }
        #expect(try !isChanged({}, whileOpening: setOwner))
        #expect(try isChanged(writeToLog, whileOpening: setOwner))
        #expect(try isChanged({}, whileOpening: writeToLog))
        // A change of the inode alone that came before.
        #expect(try isChanged(setOwner, whileOpening: setOwner))
    }

    @Test("S2: a copy that replaces the keychain does not count as a change of it")
    func replaced() throws {
        let copy = scratch.keychain + ".copy"
        try FileManager.default.copyItem(atPath: scratch.keychain, toPath: copy)
        waitForClock()
        try #require(rename(copy, scratch.keychain) == 0)
        #expect(try !isFoundByLooking())
        #expect(!fixture.keychain.isInPlace)
        fixture.close()
    }

    @Test(
        "S2: an older page that is written back while the keychain is open is read, reported and no longer hidden by caches"
    )
    func olderPage() throws {
        let item = try #require(
            try fixture.keychain.item(named: CanonicalName(account: .string("alice")), in: fixture.directory))
        try fixture.store.checkpoint()
        let old = [UInt8](try Data(contentsOf: URL(fileURLWithPath: scratch.keychain)))
        _ = try fixture.keychain.change { change throws(KeychainFault) in
            try change.save(item, secret: StoredContents(bytes: Array("second".utf8)))
        }
        try fixture.store.checkpoint()
        let new = [UInt8](try Data(contentsOf: URL(fileURLWithPath: scratch.keychain)))
        #expect(try !isFoundByLooking())
        let snapshots = try fixture.store.current().snapshots
        func versionInSnapshot() throws -> Int? {
            try snapshots.read { db throws(KeychainFault) in
                try KeychainFault.mapping(db) {
                    try Int.fetchOne(db, sql: "SELECT version FROM item WHERE id = ?", arguments: [item.id.rawValue])
                }
            } ?? nil
        }
        let version = try #require(try versionInSnapshot())
        waitForClock()
        let tag = try fixture.store.read { (reader) throws(KeychainFault) in try reader.item(id: item.id)?.tag }
        // The leaf page of the table that contains the row (https://www.sqlite.org/fileformat2.html#b_tree_pages); the header of
        // the store, on another page, stays.
        for start in stride(from: 4096, to: old.count, by: 4096) where old[start] == 13 {
            let page = old[start..<start + 4096]
            guard page.contains(try #require(tag)), page != new[start..<start + 4096] else { continue }
            try write(scratch.keychain, at: Int64(start), Array(page))
        }
        fixture.keychain.watchStore()
        #expect(try versionInSnapshot() == version - 1)
        #expect(fixture.keychain.integrity == .damaged)
        #expect(try fixture.keychain.verifyNow().rows != nil)
        #expect(fixture.keychain.integrity == .damaged)
        fixture.close()
    }
}
