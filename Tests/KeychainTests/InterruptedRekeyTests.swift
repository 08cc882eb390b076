import Foundation
import KeychainTesting
import SecretCrypto
import Synchronization
import Testing

@testable import Keychain

/// The holder of old keys exchanges rows while a rekey is interrupted, or runs. Here an older version of a row is put back, which
/// opens under the old keys, as a forged one does.
@Suite("L5: rows that are exchanged during a rekey")
struct InterruptedRekeyTests {
    /// A keychain in which a rekey has begun, and the older version of a row that was not resealed yet.
    private struct Scene {
        let safe: RekeyFixture
        let older: ItemRecord
        let secret: [UInt8]?

        init() throws {
            let fixture = try DigestFixture()
            var items: [Item] = []
            for number in 0..<2 * KeychainStore.rekeyPageSize { items.append(try fixture.add("item \(number)")) }
            let store = fixture.keyRingFixture.store
            older = try #require(store.records.itemRecords[items[items.count - 1].id])
            secret = store.records.secrets[older.id]
            var changed = items[items.count - 1]
            changed.attributes[.label] = .string("new")
            try fixture.keychain.change { [changed] (transaction) throws(KeychainFault) in
                _ = try transaction.save(changed, secret: Contents(bytes: [1, 2, 3]))
            }
            safe = try RekeyFixture(store.records)
            try safe.start()
            _ = try safe.keychain.rekeyItems(of: safe.keychain.keys.oldKeys(), after: .none)
        }

        /// Puts the older version back.
        func exchange(_ store: InMemoryRecordStore) throws {
            var records = store.records
            try records.put(older, secret: secret)
            store.records = records
        }

        func row(_ fixture: RekeyFixture) -> ItemRecord? { fixture.store.records.itemRecords[older.id] }
    }

    @Test("L5: after an interruption it seals none of them without consent, and continues with it")
    func interrupted() throws {
        let scene = try Scene()
        try scene.exchange(scene.safe.store)
        let next = try scene.safe.reopened()
        #expect(throws: KeychainFault.rowsDiffer) { try next.keychain.rekey() }
        #expect(scene.row(next) == scene.older && next.sets == 2)
        next.keychain.keys.rekeying.note { $0.phase = .waiting(.rowsDiffer) }
        #expect(try next.start() == .differs)
        #expect(throws: KeychainFault.rowsDiffer) { try next.keychain.rekey() }
        next.keychain.keys.rekeying.note { $0.phase = .waiting(.rowsDiffer) }
        #expect(throws: KeychainFault.authFailed) { try next.start("wrong", acceptingDifferences: true) }
        #expect(!next.keychain.keys.rekeying.acceptsDifferences)
        #expect(try next.start(acceptingDifferences: true) == .started(lostSlots: []))
        // The keys are not renewed again.
        #expect(next.store.records.storeRecord?.userKeyGeneration == 2 && next.sets == 2)
        try next.keychain.rekey()
        #expect(next.keychain.rekeyProgress.phase == .finished && next.sets == 1)
        #expect(!next.keychain.keys.rekeying.acceptsDifferences, "consent is for one rekey")
        #expect(scene.row(next)?.generation == 2)
        // The difference stays reported.
        #expect(try next.keychain.verifyNow().rows == .rowsReplaced)
    }

    @Test("L5: without an exchanged row it continues by itself")
    func control() throws {
        let next = try Scene().safe.reopened()
        try next.keychain.rekey()
        try next.expectRekeyed()
    }

    @Test("L5: it stops before the next page if another program changes the store while it runs")
    func running() throws {
        let scene = try Scene()
        let safe = scene.safe
        safe.store.afterNextWrite {
            try? scene.exchange(safe.store)
            safe.store.noteExternalChange()
        }
        #expect(throws: KeychainFault.rowsDiffer) { try safe.keychain.rekey() }
        #expect(scene.row(safe) == scene.older)
        #expect(throws: KeychainFault.rowsDiffer) { try safe.keychain.rekey() }
    }

    @Test("L5: a change by another program that leaves the rows as committed stops it only until they are verified")
    func harmlessChange() throws {
        let scene = try Scene()
        let safe = scene.safe
        safe.store.afterNextWrite { safe.store.noteExternalChange() }
        #expect(throws: KeychainFault.rowsDiffer) { try safe.keychain.rekey() }
        try safe.keychain.rekey()
        try safe.expectRekeyed()
    }

    @Test(
        "L5: consent ends with a lock, an unlock and a change by another program, because these may be other rows",
        arguments: ["lock", "change"])
    func endOfConsent(_ end: String) throws {
        let scene = try Scene()
        try scene.exchange(scene.safe.store)
        let next = try scene.safe.reopened()
        next.keychain.keys.rekeying.note { $0.phase = .waiting(.rowsDiffer) }
        try next.start(acceptingDifferences: true)
        #expect(next.keychain.keys.rekeying.acceptsDifferences)
        if end == "lock" {
            next.keychain.lock()
            try next.unlock()
        } else {
            next.store.noteExternalChange()
        }
        #expect(throws: KeychainFault.rowsDiffer) { try next.keychain.rekey() }
        #expect(scene.row(next) == scene.older)
    }

    @Test("L5: the worker waits for the verification after the unlock, and reports a difference once")
    func worker() throws {
        let scene = try Scene()
        try scene.exchange(scene.safe.store)
        let next = try scene.safe.reopened()
        let keychain = next.keychain
        keychain.expectVerification()
        let reports = Mutex<[RekeyProgress.Phase]>([])
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            keychain.rekeyInBackground { progress in reports.withLock { $0.append(progress.phase) } }
            done.signal()
        }
        // No worker verifies yet.
        try expect(.verifying, keychain)
        #expect(scene.row(next) == scene.older)
        Thread.detachNewThread { keychain.verifyInBackground { _ in } }
        try expect(.waiting(.rowsDiffer), keychain)
        #expect(scene.row(next) == scene.older)
        try next.start(acceptingDifferences: true)
        try expect(.finished, keychain)
        #expect(scene.row(next)?.generation == 2)
        keychain.close()
        #expect(done.wait(timeout: .now() + 60) == .success)
        #expect(reports.withLock { $0 } == [.waiting(.rowsDiffer), .finished])
    }

    private func expect(
        _ phase: RekeyProgress.Phase, _ keychain: KeychainStore, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for _ in 0..<10_000 where keychain.rekeyProgress.phase != phase { usleep(1000) }
        #expect(keychain.rekeyProgress.phase == phase, sourceLocation: sourceLocation)
    }
}
