import Foundation
import KeychainTesting
import SecretCrypto
import TestSupport
import Testing

@testable import Keychain

@Suite("S2: an integrity scan concurrent with commits")
struct IntegrityScanTests {
    @Test("S2: commits before, at and behind its position do not disturb an integrity scan")
    func commitsBetween() throws {
        let fixture = try DigestFixture()
        var items = try (0..<60).map { try fixture.add("account \($0)") }
        var generator = SeededGenerator(seed: 11)
        let pass = IntegrityScan(fixture.keyRingFixture.store, ledger: fixture.keyRingFixture.ring.ledger, pageSize: 8)
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
                try fixture.keychain.change { change throws(KeychainFault) in try change.deleteItem(id) }
                let other = items[Int.random(in: 0..<items.count, using: &generator)]
                let saved = try fixture.keychain.change { change throws(KeychainFault) in try change.save(other) }
                items[try #require(items.firstIndex { $0.id == saved.id })] = saved
                items.append(try fixture.add("new \(id.rawValue)"))
                fixture.keyRingFixture.store.failNextWrite(with: .diskFull)
                #expect(throws: KeychainFault.diskFull) { try fixture.add("never") }
            }
        }
        #expect(steps > 3)
    }

    @Test("S2, S4: missing, older, added and changed rows are distinguished, in every table")
    func faults() throws {
        let fixture = try DigestFixture()
        let item = try fixture.add("a")
        let older = fixture.keyRingFixture.store.records
        _ = try fixture.keychain.change { change throws(KeychainFault) in try change.save(item) }
        _ = try fixture.add("b")
        let good = fixture.keyRingFixture.store.records
        func fault(_ damage: (inout InMemoryRecords) throws -> Void) throws -> IntegrityFault? {
            fixture.keyRingFixture.store.records = good
            try damage(&fixture.keyRingFixture.store.records)
            return try fixture.keychain.verifyNow().rows
        }
        #expect(try fault { _ in } == nil)
        #expect(try fault { $0.deleteItem(item.id) } == .rowsMissing(1))
        #expect(try fault { $0.deleteDirectory(fixture.directory) } == .rowsMissing(1))
        #expect(try fault { $0.slotRecords[1] = nil } == .rowsMissing(1))
        #expect(try fault { $0.classKeyRecords.removeLast() } == .rowsMissing(1))
        #expect(try fault { $0.deviceRecords[9] = DeviceRecord(id: 9, tag: []) } == .rowsAdded(1))
        #expect(try fault { try $0.put(#require(older.itemRecords[item.id]), secret: nil) } == .rowsReplaced)
        #expect(try fault { $0.slotRecords[1]?.parameters = [1] } == .rowsReplaced)
        #expect(try fault { $0.storeRecord?.readerMask = 1 } == .rowsReplaced)
        #expect(try fault { $0.storeRecord?.header.ciphertext[0] ^= 1 } == .rowsUnreadable)
        #expect(throws: KeychainFault.decode) { try fixture.add("under a damaged header nothing is committed") }
        #expect(fixture.keychain.integrity == .damaged)
        // Later commits do not repair damage.
        #expect(try fault { $0.deleteItem(item.id) } == .rowsMissing(1))
        _ = try fixture.add("c")
        #expect(try fixture.keychain.verifyNow().rows == .rowsMissing(1))
        #expect(try fixture.keychain.check().rowFault == .rowsMissing(1))
        #expect(try !fixture.keychain.check().isConsistent)
        #expect(try fault { $0.storeRecord?.header = try #require(older.storeRecord).header } == .anotherCopy)
    }

    @Test("S2: one worker verifies after each unlock and ends at close")
    func worker() async throws {
        let keyRingFixture = try KeyRingFixture(unlocked: false)
        let keychain = KeychainStore(store: keyRingFixture.store, keys: keyRingFixture.ring, clock: { .sample })
        #expect(keychain.integrity == .unverified)
        let reports = AsyncStream<Bool>.makeStream()
        Thread.detachNewThread {
            keychain.verifyInBackground { reports.continuation.yield($0.isConsistent) }
            reports.continuation.finish()
        }
        try keyRingFixture.unlock()
        var iterator = reports.stream.makeAsyncIterator()
        #expect(await iterator.next() == true)
        #expect(keychain.integrity == .verified)
        keyRingFixture.ring.lock()
        #expect(keychain.integrity == .verified)
        try keyRingFixture.unlock()
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
        verification.finish(isConsistent: true)
        verification.interrupt()
        #expect(verification.integrity == .unverified)
        #expect(verification.indexes.value == .wrong)
        #expect(verification.begin() == .verify)
        verification.finishIndexes(.consistent)
        verification.finish(isConsistent: true)
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
        verification.finish(isConsistent: false)
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
        verification.finish(isConsistent: true)
        verification.renew(after: day, now: .now + day - .seconds(60))
        #expect(verification.integrity == .verified && verification.isFinished)
        verification.renew(after: day, now: .now + day)
        #expect(verification.integrity == .unverified && !verification.isFinished)
        #expect(verification.begin() == .verify)
    }

    @Test("S2: a verification that the disk prevented is repeated once a minute, but not while locked")
    func failure() {
        let verification = Verification(of: SharedIndexTrust())
        verification.unlocked()
        #expect(verification.begin() == .verify)
        #expect(verification.pauseAfterFailure(milliseconds: 1))
        #expect(!verification.fail(with: .notAvailable) && verification.integrity == .verifying)
        #expect(verification.fail(with: .io(-EIO)))
        #expect(verification.integrity == .unverified && !verification.isFinished)
        verification.renew(after: .seconds(86_400), now: .now)
        #expect(verification.begin() == .verify)
        #expect(!verification.fail(with: .io(-EIO)), "the same failure was reported twice")
        verification.renew(after: .seconds(86_400), now: .now)
        #expect(verification.begin() == .verify)
        verification.locked()
        #expect(!verification.pauseAfterFailure(milliseconds: 60_000))
        verification.interrupt()
        verification.renew(after: .zero, now: .now)
        #expect(verification.integrity == .unverified && !verification.isUnderWay)
        verification.close()
        #expect(verification.begin() == nil)
    }

    @Test("S2: the check once a minute requests a verification when the last one is a day old")
    func dailyOfKeychain() throws {
        let keychain = try DigestFixture().keychain
        _ = try keychain.verifyNow()
        keychain.watchStore(now: .now + .seconds(86_000))
        #expect(keychain.integrity == .verified)
        keychain.watchStore(now: .now + .seconds(86_401))
        #expect(keychain.integrity == .unverified)
    }

    @Test("S2: after a change by another program no cache hides what the store contains")
    func cachesAfterExternalChange() throws {
        let fixture = try DigestFixture()
        var item = try fixture.add("a")
        let older = try #require(fixture.keyRingFixture.store.records.itemRecords[item.id])
        item.file.permissions = 0o640
        _ = try fixture.keychain.change { [item] change throws(KeychainFault) in try change.save(item) }
        let container = try #require(try fixture.keychain.directory(id: fixture.directory)).parent
        func containerKey() throws -> ContainerKey? {
            try fixture.keychain.change { change throws(KeychainFault) in
                try fixture.keychain.containerKey(container, change.writer)
            }
        }
        #expect(try containerKey() != nil)
        #expect(try fixture.keychain.itemWithSecret(id: item.id)?.item.file.permissions == 0o640)
        #expect(try fixture.keychain.directory(id: fixture.directory) != nil)
        try fixture.keyRingFixture.store.records.put(older, secret: nil)
        fixture.keyRingFixture.store.records.deleteDirectory(fixture.directory)
        fixture.keyRingFixture.store.records.deleteDirectory(container)
        #expect(try fixture.keychain.directory(id: fixture.directory) != nil, "without a cache this test shows nothing")
        fixture.keyRingFixture.store.noteExternalChange()
        #expect(try fixture.keychain.itemWithSecret(id: item.id)?.item.file.permissions == 0o600)
        #expect(try fixture.keychain.directory(id: fixture.directory) == nil)
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
        verification.finish(isConsistent: true)
        verification.interrupt()
        #expect(verification.integrity == .damaged && !verification.isFinished && indexes.value == .unknown)
        // It is reported also while the keychain is locked, and verified after the next unlock.
        verification.locked()
        #expect(verification.begin() == .reportExternalChange)
        verification.unlocked()
        #expect(verification.begin() == .verify)
        #expect(verification.integrity == .damaged)
        verification.finish(isConsistent: true)
        #expect(verification.integrity == .verified && verification.isFinished)
        // 'check' verifies, too.
        verification.noteExternalChange()
        verification.note(IntegrityFindings())
        #expect(verification.integrity == .verified)
    }
}
