import Foundation
import Glibc
import Synchronization
import Testing

@testable import Keychain
@testable import KeychainStorage

@Suite("F4: reads beside a transaction")
struct SnapshotReaderTests {
    /// A transaction of another thread that adds `account` and stays open until told.
    private final class OpenTransaction: Sendable {
        private let holds = DispatchSemaphore(value: 0)
        private let resume = DispatchSemaphore(value: 0)
        private let done = DispatchSemaphore(value: 0)
        private let error = Mutex<KeychainError?>(nil)

        init(_ vault: StoredVault, adding account: String) {
            Thread.detachNewThread { [self] in
                do throws(KeychainError) {
                    try vault.keychain.change { change throws(KeychainError) in
                        let item = vault.item(account, count: 3)
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
        func end() -> KeychainError? {
            resume.signal()
            done.wait()
            return error.withLock { $0 }
        }
    }

    private func count(_ vault: StoredVault) throws -> Int {
        try vault.store.read { reader throws(KeychainError) in try reader.itemCount() }
    }

    @Test("F4: they see what is durable, do not wait for it, and see the rest when it is")
    func beside() throws {
        let scratch = try Scratch()
        let vault = try StoredVault(creating: scratch.keychain)
        defer { vault.close() }
        for number in 0..<3 {
            try vault.add("before \(number)", [1])
            let open = OpenTransaction(vault, adding: "during \(number)")
            #expect(try count(vault) == 2 * number + 1)
            #expect(try vault.contents("before \(number)") == [1])
            #expect(try vault.contents("during \(number)") == nil)
            #expect(open.end() == nil)
            #expect(try count(vault) == 2 * number + 2)
            #expect(try vault.contents("during \(number)") == [1, 2, 3])
        }
        #expect(try vault.isSound)
    }

    @Test("S7: all that one of them sees is of one moment, whatever is committed meanwhile; one within it, too")
    func oneMoment() throws {
        let scratch = try Scratch()
        let vault = try StoredVault(creating: scratch.keychain)
        defer { vault.close() }
        try vault.add("before", [1])
        let open = OpenTransaction(vault, adding: "during")
        try vault.store.read { reader throws(KeychainError) in
            let before = try reader.itemCount()
            #expect(open.end() == nil)
            #expect(OpenTransaction(vault, adding: "after").end() == nil)
            #expect(try reader.itemCount() == before)
            let nested = try vault.store.read { inner throws(KeychainError) in try inner.itemCount() }
            #expect(nested == before)
        }
        #expect(try count(vault) == 3)
    }

    @Test("S2: a verification, which sums up what is committed, waits for the end of a transaction")
    func alone() throws {
        let scratch = try Scratch()
        let vault = try StoredVault(creating: scratch.keychain)
        defer { vault.close() }
        let open = OpenTransaction(vault, adding: "during")
        let found = Mutex<Int?>(nil)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let count = try? vault.store.readAlone { reader throws(KeychainError) in try reader.itemCount() }
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
        let scratch = try Scratch()
        let vault = try StoredVault(creating: scratch.keychain)
        for isClosing in [false, true] {
            let open = OpenTransaction(vault, adding: "during \(isClosing)")
            let done = DispatchSemaphore(value: 0)
            try vault.store.read { reader throws(KeychainError) in
                let before = try reader.itemCount()
                #expect(open.end() == nil)
                Thread.detachNewThread {
                    if isClosing { vault.close() } else { try? vault.store.checkpoint() }
                    done.signal()
                }
                #expect(done.wait(timeout: .now() + 0.1) == .timedOut)
                #expect(try reader.itemCount() == before)
            }
            done.wait()
            if !isClosing { #expect(vault.store.logBytes == 0) }
        }
        #expect(try scratch.entries == ["login.keychain"])
    }

    @Test("S1: where the file has another name now, they wait for the transaction instead of opening what lies there")
    func movedAway() throws {
        let scratch = try Scratch()
        let vault = try StoredVault(creating: scratch.keychain)
        defer { vault.close() }
        try vault.add("before", [1])
        let open = OpenTransaction(vault, adding: "during")
        try FileManager.default.moveItem(atPath: scratch.keychain, toPath: scratch["elsewhere"])
        try FileManager.default.copyItem(atPath: scratch["elsewhere"], toPath: scratch.keychain)
        let found = Mutex<Int?>(nil)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let count = try? vault.store.read { reader throws(KeychainError) in try reader.itemCount() }
            found.withLock { $0 = count }
            done.signal()
        }
        #expect(done.wait(timeout: .now() + 0.1) == .timedOut)
        #expect(open.end() == nil)
        done.wait()
        #expect(found.withLock { $0 } == 2)
    }
}
