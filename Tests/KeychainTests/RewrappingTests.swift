import Foundation
import KeychainTesting
import SecretCrypto
import Synchronization
import Testing

@testable import Keychain

@Suite("Items added while locked, after the unlock")
struct RewrappingTests {
    private let fixture: DigestFixture

    init() throws { fixture = try DigestFixture() }

    /// Adds items while locked; each one's contents are its number, some of them of several chunks.
    private func addLocked(_ count: Int, from first: Int = 0) throws -> [Item] {
        fixture.keychain.lock()
        return try (first..<first + count).map { number in
            var item = try fixture.item("locked \(number)", .whenUnlockedUnlessOpen)
            let contents = contents(number)
            item.secretCount = contents.count
            return try fixture.keychain.change { [item] change throws(KeychainFault) in
                try change.save(item, secret: Contents(bytes: contents))
            }
        }
    }

    private func contents(_ number: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: number % 5 == 4 ? 70_000 : number)
    }

    private func ephemeralCount() -> Int {
        fixture.keyRingFixture.store.records.itemRecords.values.count {
            $0.ephemeral != nil || $0.masterKeyGeneration != nil
        }
    }

    /// Runs the worker until it reports, `times` times, after `start`.
    private func reports(_ times: Int, _ start: () throws -> Void) async throws -> [Int] {
        let stream = AsyncStream<Int>.makeStream()
        Thread.detachNewThread { [keychain = fixture.keychain] in
            keychain.rewrapInBackground { count, error in stream.continuation.yield(error == nil ? count : -1) }
            stream.continuation.finish()
        }
        try start()
        var counts: [Int] = []
        for await count in stream.stream {
            counts.append(count)
            if counts.count == times { fixture.keychain.close() }
        }
        return counts
    }

    @Test("S3: after the unlock all of them are sealed again with their contents unchanged; the digest matches")
    func all() async throws {
        let items = try addLocked(20)
        #expect(ephemeralCount() == 20)
        try fixture.keyRingFixture.unlock()
        // Closes the keychain: another ring examines the result.
        let counts = try await reports(1) {}
        #expect(counts == [20])
        #expect(ephemeralCount() == 0)
        let again = try KeyRingFixture(copying: fixture.keyRingFixture.store.records)
        try again.unlock()
        let keychain = KeychainStore(store: again.store, keys: again.ring, clock: { .sample })
        for (number, item) in items.enumerated() {
            let found = try #require(try keychain.itemWithSecret(id: item.id))
            #expect(try found.secret?.all() == contents(number))
            var expected = item
            expected.version += 1
            expected.secretVersion = expected.version
            #expect(found.item == expected, "nothing but the versions")
        }
        #expect(try keychain.verifyNow().rows == nil)
        #expect(try keychain.check().isConsistent)
    }

    @Test("S3: each unlock wants it; without such rows nothing is committed")
    func everyUnlock() async throws {
        _ = try addLocked(3)
        let counts = try await reports(2) {
            try fixture.keyRingFixture.unlock()
            while ephemeralCount() > 0 { usleep(1000) }
            let commits = try fixture.header.commit
            fixture.keychain.lock()
            try fixture.keyRingFixture.unlock()
            usleep(50_000)
            #expect(try fixture.header.commit == commits)
            _ = try addLocked(1, from: 3)
            try fixture.keyRingFixture.unlock()
        }
        #expect(counts == [3, 1])
    }

    @Test("S3, L2: a lock in the middle stops it; the remaining rows are intact, and rewrapped after the next unlock")
    func lockBetween() throws {
        let items = try addLocked(20)
        try fixture.keyRingFixture.unlock()
        let page = try #require(try fixture.keychain.rewrapPage(after: .none))
        #expect(page.count == KeychainStore.rewrapPageSize)
        fixture.keychain.lock()
        #expect(throws: KeychainFault.interactionNotAllowed) { try fixture.keychain.rewrapPage(after: page.last) }
        #expect(ephemeralCount() == 20 - KeychainStore.rewrapPageSize)
        try fixture.keyRingFixture.unlock()
        var after = RowID.none
        while let page = try fixture.keychain.rewrapPage(after: after) { after = page.last }
        #expect(ephemeralCount() == 0)
        for (number, item) in items.enumerated() {
            #expect(try fixture.keychain.itemWithSecret(id: item.id)?.secret?.all() == contents(number))
        }
        #expect(try fixture.sums() == fixture.header.sums)
    }

    @Test("S3: a lock in the middle of a row rolls the transaction back")
    func lockWithin() throws {
        _ = try addLocked(2)
        try fixture.keyRingFixture.unlock()
        let before = fixture.keyRingFixture.store.records
        let keychain = fixture.keychain
        #expect(throws: KeychainFault.interactionNotAllowed) {
            try keychain.change { change throws(KeychainFault) in
                let ids = try change.writer.ephemeralItems(after: .none, limit: 2)
                #expect(try change.rewrap(ids[0]))
                keychain.lock()
                _ = try change.rewrap(ids[1])
            }
        }
        #expect(fixture.keyRingFixture.store.records.itemRecords == before.itemRecords)
        #expect(try fixture.sums() == fixture.header.sums)
    }

    @Test("S3, F9: without space the rows are not modified, and it is reported")
    func diskFull() async throws {
        _ = try addLocked(3)
        fixture.keyRingFixture.store.failNextWrite(with: .diskFull)
        try fixture.keyRingFixture.unlock()
        #expect(throws: KeychainFault.diskFull) { try fixture.keychain.rewrapPage(after: .none) }
        #expect(ephemeralCount() == 3)
        #expect(try fixture.sums() == fixture.header.sums)
        fixture.keyRingFixture.store.failNextWrite(with: .diskFull)
        let counts = try await reports(1) {}
        #expect(counts == [-1])
        #expect(ephemeralCount() == 3)
    }

    @Test("S4: a damaged row is not modified, and does not prevent the rewrap of others")
    func damaged() throws {
        let items = try addLocked(3)
        var forged = try #require(fixture.keyRingFixture.store.records.itemRecords[items[1].id])
        forged.ephemeral?[0] ^= 1
        try fixture.keyRingFixture.store.records.put(forged, secret: nil)
        try fixture.keyRingFixture.unlock()
        #expect(try fixture.keychain.rewrapPage(after: .none)?.count == 2)
        #expect(try fixture.keychain.rewrapPage(after: items[2].id)?.count == nil)
        #expect(ephemeralCount() == 1)
        #expect(throws: KeychainFault.decode) { try fixture.keychain.item(id: items[1].id) }
        #expect(try fixture.keychain.itemWithSecret(id: items[2].id)?.secret?.all() == contents(2))
    }

    /// Renews the class keys, as `slot change` does.
    private func renewKeys() throws {
        let secret = { try UnlockSecret(passphrase: SecretBytes(text: "correct")) }
        let ring = fixture.keyRingFixture.ring
        _ = try ring.changeSlot(1, to: secret(), authorizedBy: ring.root(of: secret()))
    }

    @Test("S3: rows under older keys get the newest ones, once all rows are verified")
    func olderKeys() throws {
        _ = try addLocked(3)
        try renewKeys()
        try fixture.keyRingFixture.unlock()
        #expect(try fixture.keychain.rewrapPage(after: .none)?.count == 3)
        #expect(ephemeralCount() == 0)
        #expect(fixture.keyRingFixture.store.records.itemRecords.values.allSatisfy { $0.generation == 2 })
    }

    @Test("S2, S3: a row under older keys that the holder of a removed slot has put back gets no newer keys")
    func exchanged() throws {
        let items = try addLocked(1)
        let store = fixture.keyRingFixture.store
        let older = try #require(store.records.itemRecords[items[0].id])
        try fixture.keyRingFixture.unlock()
        #expect(try fixture.keychain.rewrapPage(after: .none)?.count == 1)
        try renewKeys()
        _ = try addLocked(1, from: 1)
        try store.records.put(older, secret: nil)
        store.noteExternalChange()
        try fixture.keyRingFixture.unlock()
        #expect(try fixture.keychain.rewrapPage(after: .none)?.count == 1)
        #expect(store.records.itemRecords[older.id] == older)
        #expect(fixture.keychain.integrity == .damaged)
    }

    @Test("S3, F3, F10: concurrent readers get the written value, and an open value survives a lock")
    func readers() throws {
        let items = try addLocked(40)
        try fixture.keyRingFixture.unlock()
        let open = try #require(try fixture.keychain.itemWithSecret(id: items[39].id)?.secret)
        let wrong = Atomic<Int>(0)
        let isDone = Atomic<Bool>(false)
        let group = DispatchGroup()
        for reader in 0..<3 {
            group.enter()
            Thread.detachNewThread { [keychain = fixture.keychain] in
                var number = reader
                while !isDone.load(ordering: .acquiring) {
                    let value = try? keychain.itemWithSecret(id: items[number % 40].id)?.secret?.all()
                    if value != contents(number % 40) { wrong.add(1, ordering: .relaxed) }
                    number += 7
                }
                group.leave()
            }
        }
        var after = RowID.none
        while let page = try fixture.keychain.rewrapPage(after: after) { after = page.last }
        for (number, item) in items.enumerated() {
            #expect(try fixture.keychain.itemWithSecret(id: item.id)?.secret?.all() == contents(number))
        }
        isDone.store(true, ordering: .releasing)
        group.wait()
        #expect(wrong.load(ordering: .relaxed) == 0)
        let new = try #require(try fixture.keychain.itemWithSecret(id: items[39].id)?.secret)
        fixture.keychain.lock()
        #expect(try open.all() == contents(39))
        #expect(try new.all() == contents(39))
    }
}
