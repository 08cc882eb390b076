import KeychainTesting
import SecretCrypto
import Synchronization
import Testing

@testable import Keychain

/// Keeps numbers in memory; a test can put back an older one, damage it or refuse.
private final class FakeCommitNumberStore: CommitNumberStore {
    let records = Mutex<[[UInt8]: [UInt8]]>([:])
    let isFull = Atomic(false)
    let writes = Atomic<Int>(0)

    func load(for store: [UInt8]) -> [UInt8]? { records.withLock { $0[store] } }

    func save(_ record: [UInt8], for store: [UInt8]) throws(KeychainFault) {
        guard !isFull.load(ordering: .relaxed) else { throw .diskFull }
        writes.add(1, ordering: .relaxed)
        records.withLock { $0[store] = record }
    }
}

@Suite("S2: the commit number that is kept outside the store")
struct RollbackTests {
    private let fixture: KeyRingFixture
    private let commitNumberStore = FakeCommitNumberStore()

    init() throws {
        fixture = try KeyRingFixture()
    }

    private func passphrase() throws -> SecretBytes { try SecretBytes(text: "correct") }

    private func ring(_ records: InMemoryRecords, isReadOnly: Bool = false) throws -> KeyRing {
        try KeyRing(
            store: InMemoryRecordStore(records, isReadOnly: isReadOnly), device: KeyRingFixture.device(),
            commitNumberStore: commitNumberStore)
    }

    /// The store as it is after that many commits.
    private func records(commit: Int64) throws -> InMemoryRecords {
        var records = fixture.store.records
        var store = try #require(records.storeRecord)
        var header = try fixture.ring.header(of: store)
        header.commit = commit
        store.header = try fixture.ring.sealed(header, for: store)
        records.storeRecord = store
        return records
    }

    private func kept() throws -> Int64? {
        let bytes = commitNumberStore.load(for: fixture.ring.storeID)
        let key = try fixture.ring.masterKeys().commitNumber
        return try bytes.flatMap { try CommitNumberRecord(key: key, store: fixture.ring.storeID).number(in: $0) }
    }

    @Test("S2: without a stored number a rollback is not detected, and one is stored")
    func first() throws {
        let ring = try ring(try records(commit: 5))
        try ring.unlock(passphrase: passphrase())
        #expect(ring.rollbackCheck == .first)
        #expect(try kept() == 5)
    }

    @Test("S2: the same or a larger number in the store is normal")
    func newer() throws {
        for (number, check) in [(5, RollbackCheck.first), (5, .passed), (900, .passed)] {
            let ring = try ring(try records(commit: Int64(number)))
            try ring.unlock(passphrase: passphrase())
            #expect(ring.rollbackCheck == check)
            #expect(try kept() == Int64(number))
        }
    }

    @Test("S2: a smaller number is reported at the first unlock; the keychain stays locked and unmodified")
    func older() throws {
        try ring(try records(commit: 9)).unlock(passphrase: passphrase())
        let ring = try ring(try records(commit: 8))
        #expect(throws: KeychainFault.rolledBack(kept: 9, found: 8)) { try ring.unlock(passphrase: passphrase()) }
        #expect(ring.state == .beforeFirstUnlock)
        #expect(!ring.isAvailable(.whenUnlocked))
        #expect(throws: KeychainFault.interactionNotAllowed) { try ring.lookupTag(parts: []) }
        ring.close()
        #expect(try kept() == 9)
    }

    @Test("S2: a device that is new to the store is not entered in an older copy before that is accepted")
    func olderUntouched() throws {
        let store = InMemoryRecordStore(try records(commit: 8))
        let ring = try KeyRing(store: store, device: KeyRingFixture.device(2), commitNumberStore: commitNumberStore)
        try self.ring(try records(commit: 9)).unlock(passphrase: passphrase())
        #expect(throws: KeychainFault.rolledBack(kept: 9, found: 8)) { try ring.unlock(passphrase: passphrase()) }
        #expect(store.writeCount == 0)
    }

    @Test("S2: an accepted one is kept from then on, and the next unlock is quiet")
    func accepted() throws {
        try ring(try records(commit: 9)).unlock(passphrase: passphrase())
        let old = try ring(try records(commit: 8))
        try old.unlock(passphrase: passphrase(), acceptingRollback: true)
        #expect(old.state == .unlocked && old.rollbackCheck == .accepted)
        #expect(try kept() == 8)
        let again = try ring(try records(commit: 8))
        try again.unlock(passphrase: passphrase())
        #expect(again.rollbackCheck == .passed)
    }

    @Test("S2: a wrong passphrase is not reported as a rollback, and accepting one opens nothing")
    func wrongPassphrase() throws {
        try ring(try records(commit: 9)).unlock(passphrase: passphrase())
        let ring = try ring(try records(commit: 8))
        #expect(throws: KeychainFault.authFailed) {
            try ring.unlock(passphrase: SecretBytes(text: "wrong"), acceptingRollback: true)
        }
    }

    @Test(
        "S2: a stored number that is truncated, changed, of another store or another version is reported, unless accepted"
    )
    func forged() throws {
        try ring(try records(commit: 9)).unlock(passphrase: passphrase())
        let store = fixture.ring.storeID
        let good = try #require(commitNumberStore.load(for: store))
        #expect(good.count == CommitNumberRecord.byteCount)
        let other = try KeyRingFixture()
        let foreign = try CommitNumberRecord(key: other.ring.masterKeys().commitNumber, store: store).bytes(of: 9)
        var bad = (0..<good.count).map { good.flipped($0) }
        bad += [[], Array(good.dropLast()), good + [0], foreign]
        for bytes in bad {
            commitNumberStore.records.withLock { $0[store] = bytes }
            let ring = try ring(try records(commit: 9))
            #expect(throws: KeychainFault.untrustedCommitNumber) { try ring.unlock(passphrase: passphrase()) }
            #expect(ring.state == .beforeFirstUnlock)
        }
        let ring = try ring(try records(commit: 9))
        try ring.unlock(passphrase: passphrase(), acceptingRollback: true)
        #expect(commitNumberStore.load(for: store) == good)
    }

    @Test("S2: header, row digests and commit number have a key each")
    func separatedKeys() throws {
        let store = fixture.ring.storeID
        let head = [1] + store + [UInt8](littleEndian: Int64(3))
        let master = try fixture.ring.masterKeys()
        let record = CommitNumberRecord(key: master.commitNumber, store: store)
        for other in [master.header, master.rowDigest, master.rowMAC, master.lookup] {
            let mac = try other.using { (key) throws(CryptoError) in
                try BLAKE2b.mac(key: key, parts: [head], count: 32)
            }
            #expect(try record.number(in: head + mac) == nil)
        }
        var sealed = try #require(fixture.store.records.storeRecord)
        sealed.header = try master.rowDigest.using { (key) throws(CryptoError) in
            try StoreHeader().sealed(by: key, for: sealed)
        }
        #expect(throws: KeychainFault.decode) { try StoreHeader(opening: sealed, key: master.header) }
        #expect(try record.number(in: record.bytes(of: 3)) == 3)
    }

    @Test("S2: of two copies in use at the same time, neither lowers the number that the other has stored")
    func twoCopies() throws {
        let newer = try ring(try records(commit: 9))
        let older = try ring(try records(commit: 5))
        try older.unlock(passphrase: passphrase())
        try newer.unlock(passphrase: passphrase())
        #expect(try kept() == 9)
        older.lock()
        try older.keepCommitNumber()
        #expect(try kept() == 9)
        // Who accepts a rollback lowers it, once.
        let accepting = try ring(try records(commit: 5))
        try accepting.unlock(passphrase: passphrase(), acceptingRollback: true)
        #expect(try kept() == 5)
    }

    @Test("S2, S4: a damaged header is reported; accepting it loses changes and nothing else")
    func damagedHeader() throws {
        var damaged = try records(commit: 9)
        damaged.storeRecord?.header.ciphertext[0] ^= 1
        #expect(throws: KeychainFault.decode) { try ring(damaged).unlock(passphrase: passphrase()) }
        let accepting = try ring(damaged)
        try accepting.unlock(passphrase: passphrase(), acceptingRollback: true)
        #expect(accepting.state == .unlocked && accepting.rollbackCheck == .accepted)
        #expect(accepting.isAvailable(.whenUnlocked))
        let keychain = KeychainStore(store: accepting.store, keys: accepting) { .sample }
        #expect(throws: KeychainFault.decode) { try keychain.change { (_) throws(KeychainFault) in } }
    }

    @Test("S2: for reading only it compares and keeps nothing")
    func readOnly() throws {
        let ring = try ring(try records(commit: 5), isReadOnly: true)
        try ring.unlock(passphrase: passphrase())
        ring.lock()
        ring.close()
        #expect(commitNumberStore.writes.load(ordering: .relaxed) == 0)
        try self.ring(try records(commit: 9)).unlock(passphrase: passphrase())
        let old = try self.ring(try records(commit: 8), isReadOnly: true)
        #expect(throws: KeychainFault.rolledBack(kept: 9, found: 8)) { try old.unlock(passphrase: passphrase()) }
        try old.unlock(passphrase: passphrase(), acceptingRollback: true)
        #expect(try kept() == 9)
    }

    @Test("S2: saved after a lock and at the end, and only when it has changed; not before the first unlock")
    func whenKept() throws {
        let ring = try ring(try records(commit: 5))
        let store = try #require(ring.store as? InMemoryRecordStore)
        ring.lock()
        try ring.keepCommitNumber()
        #expect(try kept() == nil)
        try ring.unlock(passphrase: passphrase())
        try ring.keepCommitNumber()
        #expect(commitNumberStore.writes.load(ordering: .relaxed) == 1)
        store.records = try records(commit: 6)
        ring.lock()
        #expect(try kept() == 5)
        try ring.keepCommitNumber()
        #expect(try kept() == 6)
        store.records = try records(commit: 7)
        ring.close()
        #expect(try kept() == 7)
        #expect(commitNumberStore.writes.load(ordering: .relaxed) == 3)
    }

    @Test("S2: without space for the number it still unlocks and locks, and retries")
    func diskFull() throws {
        let ring = try ring(try records(commit: 5))
        commitNumberStore.isFull.store(true, ordering: .relaxed)
        try ring.unlock(passphrase: passphrase())
        #expect(ring.state == .unlocked)
        ring.lock()
        #expect(ring.state == .locked)
        commitNumberStore.isFull.store(false, ordering: .relaxed)
        try ring.keepCommitNumber()
        #expect(try kept() == 5)
    }
}
