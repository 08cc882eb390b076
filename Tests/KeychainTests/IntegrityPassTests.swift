import Foundation
import KeychainTesting
import SecretCrypto
import TestSupport
import Testing

@testable import Keychain

@Suite("S2: verification beside commits")
struct IntegrityPassTests {
    @Test("S2: what is committed before, at and behind a verification does not disturb it")
    func commitsBetween() throws {
        let vault = try Vault()
        var items = try (0..<60).map { try vault.add("account \($0)") }
        var generator = SeededGenerator(seed: 11)
        let pass = IntegrityPass(vault.bench.store, ledger: vault.bench.ring.ledger, pageSize: 8)
        var steps = 0
        while true {
            if case .finished(let fault) = try pass.step() {
                #expect(fault == nil)
                break
            }
            steps += 1
            try #require(steps < 100, "a pass that runs after a steady writer for ever")
            for _ in 0..<3 {
                let index = Int.random(in: 0..<items.count, using: &generator)
                let id = items.remove(at: index).id
                try vault.keychain.change { change throws(KeychainError) in try change.deleteItem(id) }
                let other = items[Int.random(in: 0..<items.count, using: &generator)]
                let saved = try vault.keychain.change { change throws(KeychainError) in try change.save(other) }
                items[try #require(items.firstIndex { $0.id == saved.id })] = saved
                items.append(try vault.add("new \(id.rawValue)"))
                vault.bench.store.failNextWrite(with: .diskFull)
                #expect(throws: KeychainError.diskFull) { try vault.add("never") }
            }
        }
        #expect(steps > 3)
    }

    @Test("S2, S4: rows that are gone, older, added or changed are told apart, in every table")
    func faults() throws {
        let vault = try Vault()
        let item = try vault.add("a")
        let older = vault.bench.store.records
        _ = try vault.keychain.change { change throws(KeychainError) in try change.save(item) }
        _ = try vault.add("b")
        let good = vault.bench.store.records
        func fault(_ damage: (inout InMemoryRecords) throws -> Void) throws -> IntegrityFault? {
            vault.bench.store.records = good
            try damage(&vault.bench.store.records)
            return try vault.keychain.verifyNow().rows
        }
        #expect(try fault { _ in } == nil)
        #expect(try fault { $0.deleteItem(item.id) } == .rowsMissing(1))
        #expect(try fault { $0.deleteDirectory(vault.directory) } == .rowsMissing(1))
        #expect(try fault { $0.slotRecords[1] = nil } == .rowsMissing(1))
        #expect(try fault { $0.classKeyRecords.removeLast() } == .rowsMissing(1))
        #expect(try fault { $0.deviceRecords[9] = DeviceRecord(id: 9, tag: []) } == .rowsAdded(1))
        #expect(try fault { try $0.put(#require(older.itemRecords[item.id]), secret: nil) } == .rowsReplaced)
        #expect(try fault { $0.slotRecords[1]?.parameters = [1] } == .rowsReplaced)
        #expect(try fault { $0.storeRecord?.highestRow.rawValue = 1 } == .rowsReplaced)
        #expect(try fault { $0.storeRecord?.header = try #require(older.storeRecord).header } == .rowsAdded(1))
        #expect(try fault { $0.storeRecord?.header.ciphertext[0] ^= 1 } == .rowsUnreadable)
        #expect(throws: KeychainError.decode) { try vault.add("under a damaged header nothing is committed") }
        #expect(vault.keychain.integrity == .damaged)
        // Damage is not healed by what is committed after it.
        #expect(try fault { $0.deleteItem(item.id) } == .rowsMissing(1))
        _ = try vault.add("c")
        #expect(try vault.keychain.verifyNow().rows == .rowsMissing(1))
        #expect(try vault.keychain.check().rowFault == .rowsMissing(1))
        #expect(try !vault.keychain.check().isSound)
    }

    @Test("S2: one worker verifies after each unlock and ends at close")
    func worker() async throws {
        let bench = try Bench(unlocked: false)
        let keychain = try Keychain(store: bench.store, keys: bench.ring, clock: { .sample })
        #expect(keychain.integrity == .unverified)
        let reports = AsyncStream<Bool>.makeStream()
        Thread.detachNewThread {
            keychain.verifyInBackground { reports.continuation.yield($0.isSound) }
            reports.continuation.finish()
        }
        try bench.unlock()
        var iterator = reports.stream.makeAsyncIterator()
        #expect(await iterator.next() == true)
        #expect(keychain.integrity == .verified)
        bench.ring.lock()
        #expect(keychain.integrity == .verified)
        try bench.unlock()
        #expect(await iterator.next() == true)
        #expect(keychain.integrity == .verified)
        keychain.close()
        #expect(await iterator.next() == nil)
        #expect(keychain.integrity == .verified)
    }

    @Test("S2: a difference that 'check' finds during a verification is not lost with the verification's own result")
    func foundMeanwhile() throws {
        let verification = Verification(of: SharedIndexTrust())
        verification.unlocked()
        #expect(verification.begin() == .verify)
        var indexes = IndexFindings()
        indexes.addWrongEntries(1)
        verification.note(IntegrityFindings(rows: nil, indexes: indexes))
        verification.finishIndexes(.consistent)
        verification.finish(isSound: true)
        verification.interrupt()
        #expect(verification.integrity == .unverified)
        #expect(verification.indexes.value == .wrong)
        #expect(verification.begin() == .verify)
        verification.finishIndexes(.consistent)
        verification.finish(isSound: true)
        #expect(verification.indexes.value == .consistent)
        #expect(verification.integrity == .verified)
    }

    @Test("S2: a lock in the middle of a verification stops it; the next unlock starts it again")
    func interruption() throws {
        let verification = Verification(of: SharedIndexTrust())
        verification.unlocked()
        #expect(verification.integrity == .unverified)
        #expect(verification.begin() == .verify)
        #expect(verification.integrity == .verifying)
        #expect(verification.pause(milliseconds: 0))
        verification.locked()
        #expect(!verification.pause(milliseconds: 60_000))
        verification.interrupt()
        #expect(verification.integrity == .unverified)
        verification.unlocked()
        #expect(verification.begin() == .verify)
        verification.finish(isSound: false)
        verification.interrupt()
        #expect(verification.integrity == .damaged)
        verification.close()
        #expect(verification.begin() == nil)
    }

    @Test("S2: a verification is repeated once it is a day old, and not before")
    func daily() {
        let verification = Verification(of: SharedIndexTrust())
        let day = Duration.seconds(86_400)
        verification.unlocked()
        #expect(verification.begin() == .verify)
        verification.renew(after: .zero, now: .now)
        #expect(verification.integrity == .verifying)
        verification.finish(isSound: true)
        verification.renew(after: day, now: .now + day - .seconds(60))
        #expect(verification.integrity == .verified && verification.isFinished)
        verification.renew(after: day, now: .now + day)
        #expect(verification.integrity == .unverified && !verification.isFinished)
        #expect(verification.begin() == .verify)
    }

    @Test("S2: the check once a minute requests a verification when the last one is a day old")
    func dailyOfKeychain() throws {
        let keychain = try Vault().keychain
        _ = try keychain.verifyNow()
        keychain.watchStore(now: .now + .seconds(86_000))
        #expect(keychain.integrity == .verified)
        keychain.watchStore(now: .now + .seconds(86_401))
        #expect(keychain.integrity == .unverified)
    }

    @Test("S2: after a change by another program no cache hides what the store contains")
    func cachesAfterExternalChange() throws {
        let vault = try Vault()
        var item = try vault.add("a")
        let older = vault.bench.store.records
        item.file.permissions = 0o640
        _ = try vault.keychain.change { [item] change throws(KeychainError) in try change.save(item) }
        let container = try #require(try vault.keychain.directory(id: vault.directory)).parent
        func containerKey() throws -> ContainerKey? {
            try vault.keychain.change { change throws(KeychainError) in
                try vault.keychain.containerKey(container, change.writer)
            }
        }
        #expect(try containerKey() != nil)
        #expect(try vault.keychain.itemWithSecret(id: item.id)?.item.file.permissions == 0o640)
        #expect(try vault.keychain.directory(id: vault.directory) != nil)
        vault.bench.store.records = older
        vault.bench.store.records.deleteDirectory(vault.directory)
        vault.bench.store.records.deleteDirectory(container)
        #expect(try vault.keychain.directory(id: vault.directory) != nil, "without a cache this test shows nothing")
        vault.bench.store.noteExternalChange()
        #expect(try vault.keychain.itemWithSecret(id: item.id)?.item.file.permissions == 0o600)
        #expect(try vault.keychain.directory(id: vault.directory) == nil)
        #expect(try containerKey() == nil)
    }

    @Test("S2: a change by another program is reported once, and the store is damaged until it was verified again")
    func externalChange() {
        let indexes = SharedIndexTrust()
        let verification = Verification(of: indexes)
        verification.unlocked()
        #expect(verification.begin() == .verify)
        verification.finishIndexes(.consistent)
        // During a verification: its result does not count.
        verification.noteExternalChange()
        verification.finish(isSound: true)
        verification.interrupt()
        #expect(verification.integrity == .damaged && !verification.isFinished && indexes.value == .unknown)
        // It is reported also while the keychain is locked, and verified after the next unlock.
        verification.locked()
        #expect(verification.begin() == .reportExternalChange)
        verification.unlocked()
        #expect(verification.begin() == .verify)
        #expect(verification.integrity == .damaged)
        verification.finish(isSound: true)
        #expect(verification.integrity == .verified && verification.isFinished)
        // 'check' verifies, too.
        verification.noteExternalChange()
        verification.note(IntegrityFindings())
        #expect(verification.integrity == .verified)
    }
}
