import Foundation
import GRDB
import Synchronization
import SystemPackage
import Testing

@testable import Keychain
@testable import KeychainStorage

/// A keychain file and a log next to it, in all the states that a crash, a copy or an attacker can leave.
@Suite("A log is given to SQLite only if it belongs to the file")
struct LeftLogTests {
    /// A keychain file and its log at one point in time, as a crash leaves them.
    private struct State {
        let file: Data
        let log: Data
    }

    /// The states of a keychain with three items, in the order in which they were reached.
    private struct History {
        let directory: RowID
        /// After creation, closed: without a log.
        let created: State
        /// Two commits in the first log.
        let early: State
        /// Four commits in the first log.
        let late: State
        /// After a checkpoint that left the log in place.
        let checkpointed: State
        /// After an erasure and two commits in the next log.
        let next: State

        init() throws {
            let scratch = try TemporaryDirectory()
            let path = scratch.keychain
            func state() throws -> State {
                let log = try? Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
                return State(file: try Data(contentsOf: URL(fileURLWithPath: path)), log: log ?? Data())
            }
            let created = try SQLiteKeychainFixture(creating: path)
            directory = created.directory
            for name in ["a", "b", "c"] { try created.add(name, Array("old \(name)".utf8)) }
            created.close()
            self.created = try state()
            let fixture = try SQLiteKeychainFixture(opening: path, directory: directory)
            defer { fixture.close() }
            for name in ["d", "e"] { try fixture.add(name, Array("early".utf8)) }
            early = try state()
            for name in ["f", "g"] { try fixture.add(name, Array("late".utf8)) }
            late = try state()
            try fixture.store.current().perform { db throws(KeychainFault) in
                try KeychainFault.mapping(db) { _ = try db.checkpoint(.passive) }
            }
            checkpointed = try state()
            try fixture.store.checkpoint()
            for name in ["h", "i"] { try fixture.add(name, Array("next".utf8)) }
            next = try state()
        }

        /// Another keychain that began as a copy of `created`.
        func fork() throws -> State {
            let scratch = try TemporaryDirectory()
            try created.file.write(to: URL(fileURLWithPath: scratch.keychain))
            let fixture = try SQLiteKeychainFixture(opening: scratch.keychain, directory: directory)
            defer { fixture.close() }
            try fixture.store.checkpoint()
            for name in ["x", "y", "z", "w"] { try fixture.add(name, Array("fork".utf8)) }
            try fixture.store.checkpoint()
            for name in ["u", "v"] { try fixture.add(name, Array("fork".utf8)) }
            return State(
                file: try Data(contentsOf: URL(fileURLWithPath: scratch.keychain)),
                log: try Data(contentsOf: URL(fileURLWithPath: scratch.keychain + "-wal")))
        }
    }

    /// Places both files and returns the finding, after both ways of opening that must not change them.
    private func finding(_ file: Data, _ log: Data, _ scratch: TemporaryDirectory) throws -> LeftLog.Finding {
        let names = [scratch.keychain, scratch.keychain + "-wal"]
        for (name, contents) in zip(names, [file, log]) { try contents.write(to: URL(fileURLWithPath: name)) }
        func expectUnchanged(_ location: SourceLocation = #_sourceLocation) throws {
            for (name, contents) in zip(names, [file, log]) {
                #expect(try Data(contentsOf: URL(fileURLWithPath: name)) == contents, sourceLocation: location)
            }
            #expect(try scratch.entries == ["login.keychain", "login.keychain-wal"], sourceLocation: location)
        }
        let descriptor = try FileDescriptor.open(FilePath(scratch.keychain), .readOnly)
        let finding = try LeftLog.finding(at: names[1], store: descriptor)
        try descriptor.close()
        func open(_ access: SQLiteRecordStore.Access) -> StoreOpenError? {
            do throws(StoreOpenError) {
                try SQLiteRecordStore.open(path: scratch.keychain, access: access).close()
                return nil
            } catch {
                return error
            }
        }
        switch finding {
        case .empty: #expect(open(.readOnly) == nil)
        case .belongs: #expect(open(.readOnly) == .needsRecovery)
        case .mismatched:
            #expect(open(.readOnly) == .mismatchedLog(path: names[1]))
            #expect(open(.readWrite) == .mismatchedLog(path: names[1]))
        }
        try expectUnchanged()
        return finding
    }

    /// Opens the placed files for writing, with their log. Returns the names of the items, and requires that the store
    /// is consistent.
    private func accounts(_ scratch: TemporaryDirectory, _ history: History) throws -> String {
        let fixture = try SQLiteKeychainFixture(opening: scratch.keychain, directory: history.directory)
        defer { fixture.close() }
        #expect(try fixture.isConsistent)
        return try "abcdefghi".filter { try fixture.contents(String($0)) != nil }
    }

    @Test("S4: the file's own log, also padded, truncated, partly or completely checkpointed, is recovered")
    func own() throws {
        let history = try History()
        let padding = Data(count: 100_000)
        let cut = history.late.log.prefix(Self.frames(history.late.log, 9))
        let cases: [(State, String, String)] = [
            (history.early, "abcde", "early"), (history.late, "abcdefg", "late"),
            (State(file: history.late.file, log: history.late.log + padding), "abcdefg", "padded"),
            (State(file: history.early.file, log: cut + Data([1, 2, 3])), "", "cut off"),
            (history.checkpointed, "abcdefg", "checkpointed"),
            (State(file: history.created.file, log: history.early.log), "abcde", "the closed file"),
            (history.next, "abcdefghi", "the next log"),
        ]
        for (state, wanted, title) in cases {
            let scratch = try TemporaryDirectory()
            #expect(try finding(state.file, state.log, scratch) == .belongs, "\(title)")
            let found = try accounts(scratch, history)
            #expect(wanted.isEmpty ? found.hasPrefix("abc") : found == wanted, "\(title): \(found)")
        }
    }

    /// The length of a log with `count` frames.
    private static func frames(_ log: Data, _ count: Int) -> Int { min(log.count, 32 + count * 4120) }

    @Test("S4: a log that is interrupted in the middle of a checkpoint, at any sector of any page, is recovered")
    func interruptedCheckpoint() throws {
        let history = try History()
        let (old, new) = (history.late.file, history.checkpointed.file)
        try #require(new.count >= old.count && old.prefix(8192) != new.prefix(8192))
        for sector in stride(from: 0, through: new.count / 512, by: 7) + Array(8...16) {
            // Sectors in front of this one have been written; in the other direction, those behind it.
            for mixture in [
                new.prefix(sector * 512) + old.dropFirst(sector * 512),
                old.prefix(sector * 512) + new.dropFirst(sector * 512),
            ] where mixture.count >= old.count {
                let scratch = try TemporaryDirectory()
                #expect(try finding(mixture, history.late.log, scratch) == .belongs, "sector \(sector)")
                #expect(try accounts(scratch, history) == "abcdefg", "sector \(sector)")
            }
        }
    }

    @Test("S4: a log of another keychain, of an older or newer copy, or of a fork is refused; no byte is changed")
    func foreign() throws {
        let history = try History()
        let other = try History()
        let fork = try history.fork()
        let cases: [(Data, Data, String)] = [
            (history.created.file, other.early.log, "another keychain"),
            (history.next.file, other.next.log, "another keychain, both with two logs"),
            (history.created.file, history.next.log, "a newer copy"),
            (history.next.file, history.early.log, "an older log"),
            (history.checkpointed.file, history.early.log, "the beginning of a log that was checkpointed"),
            (fork.file, history.next.log, "a fork"), (history.next.file, fork.log, "a fork, the other way round"),
            (history.created.file.prefix(4096), history.early.log, "a truncated file"),
        ]
        for (file, log, title) in cases {
            #expect(try finding(file, log, try TemporaryDirectory()) == .mismatched, "\(title)")
        }
    }

    @Test("S4: a log without a committed transaction is ignored, as SQLite does")
    func withoutCommit() throws {
        let history = try History()
        let log = history.early.log
        var badHeader = log
        badHeader[20] ^= 1
        let logs: [(Data, String)] = [
            (Data(), "empty"), (Data(count: 8192), "zeros"), (Data([1, 2, 3]), "garbage"), (log.prefix(32), "a header"),
            (log.prefix(32 + 4119), "half a frame"), (badHeader, "another salt"),
            (Data(repeating: 0xEE, count: 50_000), "noise"),
        ]
        for (log, title) in logs {
            let scratch = try TemporaryDirectory()
            #expect(try finding(history.created.file, log, scratch) == .empty, "\(title)")
            #expect(try accounts(scratch, history) == "abc", "\(title)")
        }
    }

    @Test("A log of another program, with pages of another size, is refused")
    func otherProgram() throws {
        let history = try History()
        for size in [512, 4096, 65536] {
            let scratch = try TemporaryDirectory()
            let log = try Data(contentsOf: URL(fileURLWithPath: scratch.otherLog(pageSize: size)))
            #expect(
                try finding(history.created.file, log, try TemporaryDirectory()) == .mismatched,
                "pages of \(size) bytes")
        }
    }

    @Test("A log that ends anywhere within its first frames changes nothing, or is recovered")
    func everyEnd() throws {
        let history = try History()
        for count in stride(from: 0, to: Self.frames(history.late.log, 6), by: 331) {
            let scratch = try TemporaryDirectory()
            #expect(
                try finding(history.created.file, history.late.log.prefix(count), scratch) != .mismatched, "\(count)")
            #expect(try accounts(scratch, history).hasPrefix("abc"), "\(count) bytes")
        }
    }

    @Test("F4: the first transaction in an empty log is preceded by another that changes no byte of the store page")
    func firstTransaction() throws {
        let history = try History()
        let page = history.next.file[4096..<8192]
        let frames = try #require(LogFrames(header: [UInt8](history.next.log.prefix(32))))
        #expect(frames.pageSize == 4096)
        let first = history.next.log[32..<32 + 4120]
        #expect(Array(first.prefix(4)) == [0, 0, 0, 2])
        #expect(Array(first.dropFirst(24)) == Array(page))
        // A transaction of one page: its frame has the size of the database.
        #expect(Array(first[36..<40]) != [0, 0, 0, 0])
    }

    @Test("F4: a log that is begun again after 1,000 pages belongs to the file, and does not grow further")
    func begunAgain() throws {
        let scratch = try TemporaryDirectory()
        let fixture = try SQLiteKeychainFixture(creating: scratch.keychain)
        defer { fixture.close() }
        let value = [UInt8](repeating: 7, count: 6000)
        var (wasBegunAgain, pages) = (false, 0)
        for number in 0..<500 {
            try fixture.add("item \(number)", value)
            let before = pages
            pages = try fixture.store.current().logProgress.withLock { $0.pages }
            #expect(pages < 1000)
            if pages < before { wasBegunAgain = true }
            // After a checkpoint, and at some points later.
            guard pages < before || (wasBegunAgain && number % 50 == 0) else { continue }
            let copy = scratch["copy \(number)"]
            let recovered = try SQLiteKeychainFixture(crashing: fixture, scratch.keychain, copy: copy)
            defer { recovered.close() }
            #expect(try recovered.contents("item \(number)") == value)
            #expect(try recovered.contents("item 0") == value)
        }
        #expect(wasBegunAgain)
        #expect(try #require(try scratch.size(of: "login.keychain-wal")) < 6 << 20)
        #expect(try #require(try scratch.size(of: "login.keychain")) > 3 << 20)
    }
}
