import Foundation
import Glibc
import Synchronization
import Testing

@testable import Keychain
@testable import KeychainStorage

@Suite("F4: reads concurrent with a transaction")
struct SnapshotReaderTests {
    /// A transaction of another thread that adds `account` and stays open until it is released.
    private final class OpenTransaction: Sendable {
        private let holds = DispatchSemaphore(value: 0)
        private let resume = DispatchSemaphore(value: 0)
        private let done = DispatchSemaphore(value: 0)
        private let error = Mutex<KeychainFault?>(nil)

        init(_ fixture: SQLiteKeychainFixture, adding account: String) {
            Thread.detachNewThread { [self] in
                do throws(KeychainFault) {
                    try fixture.keychain.change { change throws(KeychainFault) in
                        let item = try fixture.item(account, count: 3)
                        _ = try change.save(item, secret: StoredContents(bytes: [1, 2, 3]))
                        holds.signal()
                        resume.wait()
                    }
                } catch {
                    self.error.withLock { $0 = error }
                }
                done.signal()
            }
            holds.wait()
        }

        /// Commits; returns why not.
        func end() -> KeychainFault? {
            resume.signal()
            done.wait()
            return error.withLock { $0 }
        }
    }

    private func count(_ fixture: SQLiteKeychainFixture) throws -> Int {
        try fixture.store.read { reader throws(KeychainFault) in try reader.itemCount() }
    }

    @Test("F4: they see what is durable, do not wait for it, and see the rest when it is")
    func readDuringWrite() throws {
        let scratch = try TemporaryDirectory()
        let fixture = try SQLiteKeychainFixture(creating: scratch.keychain)
        defer { fixture.close() }
        for number in 0..<3 {
            try fixture.add("before \(number)", [1])
            let open = OpenTransaction(fixture, adding: "during \(number)")
            #expect(try count(fixture) == 2 * number + 1)
            #expect(try fixture.contents("before \(number)") == [1])
            #expect(try fixture.contents("during \(number)") == nil)
            #expect(open.end() == nil)
            #expect(try count(fixture) == 2 * number + 2)
            #expect(try fixture.contents("during \(number)") == [1, 2, 3])
        }
        #expect(try fixture.isConsistent)
    }

    @Test("S7: a snapshot shows one point in time, during concurrent commits; a nested one, too")
    func atomicity() throws {
        let scratch = try TemporaryDirectory()
        let fixture = try SQLiteKeychainFixture(creating: scratch.keychain)
        defer { fixture.close() }
        try fixture.add("before", [1])
        let open = OpenTransaction(fixture, adding: "during")
        try fixture.store.read { reader throws(KeychainFault) in
            let before = try reader.itemCount()
            #expect(open.end() == nil)
            #expect(OpenTransaction(fixture, adding: "after").end() == nil)
            #expect(try reader.itemCount() == before)
            let nested = try fixture.store.read { inner throws(KeychainFault) in try inner.itemCount() }
            #expect(nested == before)
        }
        #expect(try count(fixture) == 3)
    }

    @Test("L5: a read that began before the end of a rekey opens its rows: their keys stay until it has ended")
    func endOfRekey() throws {
        let scratch = try TemporaryDirectory()
        let fixture = try SQLiteKeychainFixture(creating: scratch.keychain)
        defer { fixture.close() }
        try fixture.add("before", [1])
        let open = OpenTransaction(fixture, adding: "during")
        let envelope = fixture.keychain.itemEnvelope
        let ended = DispatchSemaphore(value: 0)
        let old = try fixture.store.read { reader throws(KeychainFault) in
            let record = try reader.items(directory: fixture.directory, after: .none, limit: 1)[0]
            #expect(open.end() == nil)
            Thread.detachNewThread {
                #expect(throws: Never.self) { try fixture.rekey() }
                ended.signal()
            }
            // The last transaction is next.
            for _ in 0..<10_000 where fixture.keychain.rekeyProgress.done < 2 { usleep(1000) }
            #expect(ended.wait(timeout: .now() + 0.5) == .timedOut)
            #expect(throws: Never.self) { try envelope.open(record) }
            return record
        }
        ended.wait()
        #expect(throws: KeychainFault.decode) { try envelope.open(old) }
        #expect(try fixture.contents("before") == [1])
    }

    @Test("S2: an integrity scan, which sums up committed rows, waits for the end of a transaction")
    func alone() throws {
        let scratch = try TemporaryDirectory()
        let fixture = try SQLiteKeychainFixture(creating: scratch.keychain)
        defer { fixture.close() }
        let open = OpenTransaction(fixture, adding: "during")
        let found = Mutex<Int?>(nil)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let count = try? fixture.store.readExclusively { reader throws(KeychainFault) in try reader.itemCount() }
            found.withLock { $0 = count }
            done.signal()
        }
        #expect(done.wait(timeout: .now() + 0.1) == .timedOut)
        #expect(open.end() == nil)
        done.wait()
        #expect(found.withLock { $0 } == 1)
    }

    @Test("S8: the log is emptied when the last of them has ended; and so does closing the store wait for them")
    func ending() throws {
        let scratch = try TemporaryDirectory()
        let fixture = try SQLiteKeychainFixture(creating: scratch.keychain)
        for isClosing in [false, true] {
            let open = OpenTransaction(fixture, adding: "during \(isClosing)")
            let done = DispatchSemaphore(value: 0)
            try fixture.store.read { reader throws(KeychainFault) in
                let before = try reader.itemCount()
                #expect(open.end() == nil)
                Thread.detachNewThread {
                    if isClosing { fixture.close() } else { try? fixture.store.checkpoint() }
                    done.signal()
                }
                #expect(done.wait(timeout: .now() + 0.1) == .timedOut)
                #expect(try reader.itemCount() == before)
            }
            done.wait()
            if !isClosing { #expect(fixture.store.logBytes == 0) }
        }
        #expect(try scratch.entries == ["login.keychain"])
    }

    @Test(
        "S1: if the file has been renamed, reads wait for the transaction instead of opening another file at its path")
    func movedAway() throws {
        let scratch = try TemporaryDirectory()
        let fixture = try SQLiteKeychainFixture(creating: scratch.keychain)
        defer { fixture.close() }
        try fixture.add("before", [1])
        let open = OpenTransaction(fixture, adding: "during")
        try FileManager.default.moveItem(atPath: scratch.keychain, toPath: scratch["elsewhere"])
        try FileManager.default.copyItem(atPath: scratch["elsewhere"], toPath: scratch.keychain)
        let found = Mutex<Int?>(nil)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let count = try? fixture.store.read { reader throws(KeychainFault) in try reader.itemCount() }
            found.withLock { $0 = count }
            done.signal()
        }
        #expect(done.wait(timeout: .now() + 0.1) == .timedOut)
        #expect(open.end() == nil)
        done.wait()
        #expect(found.withLock { $0 } == 2)
    }
}
