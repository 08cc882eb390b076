import KeychainTesting
import SecretCrypto
import Synchronization
import Testing

@testable import Keychain

/// Keeps numbers in memory; a test can put back an older one, damage it or refuse.
final class FakeCommitNumberStore: CommitNumberStore {
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
    let fixture: KeyRingFixture
    let commitNumberStore = FakeCommitNumberStore()

    init() throws {
        fixture = try KeyRingFixture()
    }

    /// The device whose row the store has; with a stored state, as after `create`.
    func saveState(commit: Int64) throws {
        let key = try fixture.ring.ledger.digest().keys
        let store = try #require(records(commit: commit).storeRecord)
        let state = SeenState(try fixture.ring.header(of: store), of: store, keys: key, mark: .none)
        let bytes = try DeviceFileRecord.encode(state, store: store.identifier, key: key.deviceFile)
        commitNumberStore.records.withLock { $0[store.identifier] = bytes }
    }

    private func commit(_ ring: KeyRing) throws -> Int64 { try ring.commitNumber() }

    func passphrase() throws -> SecretBytes { try SecretBytes(text: "correct") }

    func ring(_ records: InMemoryRecords, isReadOnly: Bool = false) throws -> KeyRing {
        try KeyRing(
            store: InMemoryRecordStore(records, isReadOnly: isReadOnly), device: KeyRingFixture.device(),
            commitNumberStore: commitNumberStore)
    }

    /// The store as it is after that many commits.
    func records(commit: Int64, newID: Bool = false) throws -> InMemoryRecords {
        var records = fixture.store.records
        var store = try #require(records.storeRecord)
        var header = try fixture.ring.header(of: store)
        header.commit = commit
        if newID { header.commitID[0] ^= 1 }
        store.header = try fixture.ring.sealed(header, for: store)
        records.storeRecord = store
        return records
    }

    func kept() throws -> Int64? {
        let key = try fixture.ring.ledger.digest().keys.deviceFile
        return try commitNumberStore.load(for: fixture.ring.storeID).flatMap { bytes in
            let record = try DeviceFileRecord(decoding: bytes, store: fixture.ring.storeID)
            return try record.isAuthentic(key) ? record.state.commit : nil
        }
    }

    @Test("S2: a new device has no stored state; it is stored before the store gets the row of the device")
    func first() throws {
        let store = InMemoryRecordStore(try records(commit: 5))
        let ring = try KeyRing(store: store, device: KeyRingFixture.device(2), commitNumberStore: commitNumberStore)
        store.beforeNextCommit { [commitNumberStore] in
            #expect(commitNumberStore.writes.load(ordering: .relaxed) == 1)
        }
        try ring.unlock(passphrase: passphrase())
        #expect(ring.rollbackCheck == .first && store.records.deviceRecords.count == 2)
        #expect(try kept() == 6)
    }

    @Test("S2: a new device whose state cannot be stored is not entered, and is a new one at the next unlock")
    func firstWithoutSpace() throws {
        let store = InMemoryRecordStore(try records(commit: 5))
        commitNumberStore.isFull.store(true, ordering: .relaxed)
        let ring = try KeyRing(store: store, device: KeyRingFixture.device(2), commitNumberStore: commitNumberStore)
        try ring.unlock(passphrase: passphrase())
        #expect(ring.state == .unlocked && store.records.deviceRecords.count == 1 && store.writeCount == 0)
        ring.close()
        commitNumberStore.isFull.store(false, ordering: .relaxed)
        let again = try KeyRing(store: store, device: KeyRingFixture.device(2), commitNumberStore: commitNumberStore)
        try again.unlock(passphrase: passphrase())
        #expect(again.rollbackCheck == .first && store.records.deviceRecords.count == 2)
    }

    @Test("S2: a device with a row in the store and no stored state is refused until that is accepted")
    func missing() throws {
        let store = InMemoryRecordStore(try records(commit: 5))
        let refused = try KeyRing(store: store, device: KeyRingFixture.device(), commitNumberStore: commitNumberStore)
        #expect(throws: KeychainFault.missingCommitNumber) { try refused.unlock(passphrase: passphrase()) }
        #expect(throws: KeychainFault.missingCommitNumber) { try refused.unlock(passphrase: passphrase()) }
        #expect(refused.state == .beforeFirstUnlock && store.writeCount == 0)
        try refused.unlock(passphrase: passphrase(), acceptingRollback: true)
        #expect(refused.rollbackCheck == .accepted)
        #expect(try kept() == 6)
    }

    @Test("S2: a store with the stored number and another commit ID is a fork: refused until that is accepted")
    func forked() throws {
        try saveState(commit: 9)
        let fork = try ring(try records(commit: 9, newID: true))
        #expect(throws: KeychainFault.forked(commit: 9)) { try fork.unlock(passphrase: passphrase()) }
        #expect(fork.state == .beforeFirstUnlock)
        try fork.unlock(passphrase: passphrase(), acceptingRollback: true)
        #expect(try commit(fork) == 10)
        #expect(try kept() == 10)
        let other = try ring(try records(commit: 9))
        #expect(throws: KeychainFault.rolledBack(kept: 10, found: 9)) { try other.unlock(passphrase: passphrase()) }
    }

    @Test("S2: a new store has its state stored before it has a name")
    func created() throws {
        let store = InMemoryRecordStore()
        try KeyRing.create(
            in: store, passphrase: passphrase(), cost: .cheap, device: KeyRingFixture.device(),
            commitNumberStore: commitNumberStore)
        let ring = try KeyRing(store: store, device: KeyRingFixture.device(), commitNumberStore: commitNumberStore)
        try ring.unlock(passphrase: passphrase())
        #expect(ring.rollbackCheck == .passed && ring.keptCost() == .cheap)
        let full = FakeCommitNumberStore()
        full.isFull.store(true, ordering: .relaxed)
        #expect(throws: KeychainFault.diskFull) {
            try KeyRing.create(
                in: InMemoryRecordStore(), passphrase: passphrase(), cost: .cheap, device: KeyRingFixture.device(),
                commitNumberStore: full)
        }
    }

    @Test("S2: a stored number of 2^62 or more that is not authentic does not use up the numbers")
    func hugeNumber() throws {
        try saveState(commit: 9)
        let id = fixture.ring.storeID
        for (number, raised) in [(Int64(1) << 62, Int64(10)), (Int64.max - 1, 10), (1 << 62 - 1, 1 << 62)] {
            var bytes = try #require(commitNumberStore.load(for: id))
            var commit: [UInt8] = []
            commit.append(littleEndian: number)
            bytes.replaceSubrange(17..<25, with: commit)
            commitNumberStore.records.withLock { $0[id] = bytes }
            let ring = try ring(try records(commit: 9))
            #expect(throws: KeychainFault.untrustedCommitNumber) { try ring.unlock(passphrase: passphrase()) }
            try ring.unlock(passphrase: passphrase(), acceptingRollback: true)
            #expect(try self.commit(ring) == raised)
        }
    }

    @Test("S2: the same or a larger number in the store is normal")
    func newer() throws {
        try saveState(commit: 5)
        for (number, check) in [(5, RollbackCheck.passed), (5, .passed), (900, .passed)] {
            let ring = try ring(try records(commit: Int64(number)))
            try ring.unlock(passphrase: passphrase())
            #expect(ring.rollbackCheck == check)
            #expect(try kept() == Int64(number))
        }
    }

    @Test("S2: a smaller number is reported at the first unlock; the keychain stays locked and unmodified")
    func older() throws {
        try saveState(commit: 9)
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
        try saveState(commit: 9)
        #expect(throws: KeychainFault.rolledBack(kept: 9, found: 8)) { try ring.unlock(passphrase: passphrase()) }
        #expect(store.writeCount == 0)
    }

    @Test(
        "S2, M5: an accepted one gets a number above all others; the next unlock is quiet, the abandoned copy is older")
    func accepted() throws {
        try saveState(commit: 9)
        let old = try ring(try records(commit: 8))
        try old.unlock(passphrase: passphrase(), acceptingRollback: true)
        #expect(old.state == .unlocked && old.rollbackCheck == .accepted)
        #expect(try kept() == 10)
        let again = try KeyRing(store: old.store, device: KeyRingFixture.device(), commitNumberStore: commitNumberStore)
        try again.unlock(passphrase: passphrase())
        #expect(again.rollbackCheck == .passed)
        for commit in [Int64(8), 9] {
            let abandoned = try ring(try records(commit: commit))
            #expect(throws: KeychainFault.rolledBack(kept: 10, found: commit)) {
                try abandoned.unlock(passphrase: passphrase())
            }
        }
    }

    @Test("S2: a wrong passphrase is not reported as a rollback, and accepting one opens nothing")
    func wrongPassphrase() throws {
        try saveState(commit: 9)
        let ring = try ring(try records(commit: 8))
        #expect(throws: KeychainFault.authFailed) {
            try ring.unlock(passphrase: SecretBytes(text: "wrong"), acceptingRollback: true)
        }
    }

    @Test(
        "S2: a stored number that is truncated, changed, of another store or another version is reported, unless accepted"
    )
    func forged() throws {
        try saveState(commit: 9)
        let store = fixture.ring.storeID
        let good = try #require(commitNumberStore.load(for: store))
        #expect(good.count == DeviceFileRecord.byteCount)
        let other = try KeyRingFixture()
        let state = try DeviceFileRecord(decoding: good, store: store).state
        let foreign = try DeviceFileRecord.encode(
            state, store: store, key: other.ring.ledger.digest().keys.deviceFile)
        var bad = (0..<good.count).map { good.flipped($0) }
        bad += [[], Array(good.dropLast()), good + [0], foreign]
        for bytes in bad {
            commitNumberStore.records.withLock { $0[store] = bytes }
            let ring = try ring(try records(commit: 9))
            // The MAC of a generation that the store does not have cannot be verified.
            let generation = try? DeviceFileRecord(decoding: bytes, store: store).state.userKeyGeneration
            let fault = generation ?? 1 > 1 ? KeychainFault.replacedUserKey : .untrustedCommitNumber
            #expect(throws: fault) { try ring.unlock(passphrase: passphrase()) }
            #expect(ring.state == .beforeFirstUnlock)
        }
        let ring = try ring(try records(commit: 9))
        try ring.unlock(passphrase: passphrase(), acceptingRollback: true)
        #expect(try kept() == 10)
    }

    @Test("S2: header, row digests and commit number have a key each")
    func separatedKeys() throws {
        let keys = try fixture.ring.ledger.digest().keys
        let master = try fixture.ring.masterKeys()
        let store = try #require(fixture.store.records.storeRecord)
        let id = store.identifier
        let state = SeenState(try fixture.ring.header(of: store), of: store, keys: keys, mark: .none)
        for other in [keys.header, keys.rowDigest, master.rowMAC, master.lookup] {
            let bytes = try DeviceFileRecord.encode(state, store: id, key: other)
            #expect(try !DeviceFileRecord(decoding: bytes, store: id).isAuthentic(keys.deviceFile))
        }
        let bytes = try DeviceFileRecord.encode(state, store: id, key: keys.deviceFile)
        #expect(try DeviceFileRecord(decoding: bytes, store: id).isAuthentic(keys.deviceFile))
        let plain = try fixture.ring.header(of: store).encoded
        let bound = AssociatedData(.header, store: id).adding(Int64(StoreRecord.currentFormat), keys.generation)
        for other in [keys.rowDigest, keys.deviceFile, master.directory] {
            var sealed = store
            sealed.header = try other.using { (key) throws(CryptoError) in
                try Sealed.sealing(plain.rawSpan, key: key, bound: bound)
            }
            #expect(throws: KeychainFault.decode) { try StoreHeader(opening: sealed, keys: keys) }
        }
    }

    @Test("S2: of two copies in use at the same time, neither lowers the number that the other has stored")
    func twoCopies() throws {
        try saveState(commit: 5)
        let newer = try ring(try records(commit: 9))
        let older = try ring(try records(commit: 5))
        try older.unlock(passphrase: passphrase())
        try newer.unlock(passphrase: passphrase())
        #expect(try kept() == 9)
        older.lock()
        try older.keepCommitNumber()
        #expect(try kept() == 9)
        // Who accepts a rollback raises it above both.
        let accepting = try ring(try records(commit: 5))
        try accepting.unlock(passphrase: passphrase(), acceptingRollback: true)
        #expect(try kept() == 10)
    }

    @Test("S2, S4: a damaged header refuses the unlock, also if a rollback is accepted; an examination opens it")
    func damagedHeader() throws {
        var damaged = try records(commit: 9)
        damaged.storeRecord?.header.ciphertext[0] ^= 1
        #expect(throws: KeychainFault.decode) { try ring(damaged).unlock(passphrase: passphrase()) }
        #expect(throws: KeychainFault.decode) {
            try ring(damaged).unlock(passphrase: passphrase(), acceptingRollback: true)
        }
        let examined = try KeyRing(
            store: InMemoryRecordStore(damaged), device: KeyRingFixture.device(),
            commitNumberStore: commitNumberStore, isExamination: true)
        #expect(throws: KeychainFault.decode) { try examined.unlock(passphrase: passphrase()) }
        try examined.unlock(passphrase: passphrase(), acceptingRollback: true)
        #expect(examined.state == .unlocked && examined.rollbackCheck == .accepted)
        #expect(examined.isAvailable(.whenUnlocked))
        let keychain = KeychainStore(store: examined.store, keys: examined) { .sample }
        #expect(throws: KeychainFault.decode) { try keychain.change { (_) throws(KeychainFault) in } }
    }

    @Test("S2: for reading only it compares and keeps nothing")
    func readOnly() throws {
        try saveState(commit: 5)
        let ring = try ring(try records(commit: 5), isReadOnly: true)
        try ring.unlock(passphrase: passphrase())
        ring.lock()
        ring.close()
        #expect(commitNumberStore.writes.load(ordering: .relaxed) == 0)
        try saveState(commit: 9)
        let old = try self.ring(try records(commit: 8), isReadOnly: true)
        #expect(throws: KeychainFault.rolledBack(kept: 9, found: 8)) { try old.unlock(passphrase: passphrase()) }
        try old.unlock(passphrase: passphrase(), acceptingRollback: true)
        #expect(try kept() == 9)
    }

    @Test("S2: saved after a lock and at the end, and only when it has changed; not before the first unlock")
    func whenKept() throws {
        try saveState(commit: 4)
        let ring = try ring(try records(commit: 5))
        ring.lock()
        try ring.keepCommitNumber()
        #expect(try kept() == 4)
        try ring.unlock(passphrase: passphrase())
        try ring.keepCommitNumber()
        #expect(commitNumberStore.writes.load(ordering: .relaxed) == 1)
        try ring.change()
        ring.lock()
        #expect(try kept() == 5)
        try ring.keepCommitNumber()
        #expect(try kept() == 6)
        try ring.change()
        ring.close()
        // The last commit writes the mark of the device.
        #expect(try kept() == 8)
        #expect(commitNumberStore.writes.load(ordering: .relaxed) == 3)
    }

    @Test("S2: without space for the number it still unlocks and locks, and retries")
    func diskFull() throws {
        try saveState(commit: 4)
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
