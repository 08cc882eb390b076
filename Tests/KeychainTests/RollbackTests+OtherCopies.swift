import KeychainTesting
import SecretCrypto
import Synchronization
import Testing

@testable import Keychain

/// The stored state while another copy of the store is in use, or is written over this one.
extension RollbackTests {
    @Test(
        "S2: the state of another copy that is written over the open store is never stored, older or not; the next unlock refuses it",
        arguments: [6, 7, 8, 9] as [Int64])
    func overwritten(copy: Int64) throws {
        try saveState(commit: 6)
        let ring = try ring(try records(commit: 6))
        try ring.unlock(passphrase: passphrase())
        // Stored is 6 still, because the daemon stores it at most once a minute.
        try ring.change()
        try ring.change()
        let store = try #require(ring.store as? InMemoryRecordStore)
        store.records = try records(commit: copy, newID: true)
        ring.lock()
        try ring.keepCommitNumber()
        ring.close()
        #expect(try kept() == 8)
        let next = try KeyRing(store: store, device: KeyRingFixture.device(), commitNumberStore: commitNumberStore)
        let secret = try passphrase()
        let refusal: KeychainFault? =
            copy < 8 ? .rolledBack(kept: 8, found: copy) : copy == 8 ? .forked(commit: 8) : .missingChanges(mark: 7)
        do throws(KeychainFault) {
            try next.unlock(passphrase: secret)
            #expect(refusal == nil)
        } catch {
            #expect(error == refusal)
        }
    }

    @Test("S2: the state of another copy with the same number that another process has stored is not replaced")
    func storedFork() throws {
        try saveState(commit: 6)
        let ring = try ring(try records(commit: 6))
        try ring.unlock(passphrase: passphrase())
        let keys = try fixture.ring.ledger.digest().keys
        let fork = try #require(records(commit: 7, newID: true).storeRecord)
        let state = SeenState(try fixture.ring.header(of: fork), of: fork, keys: keys, mark: .none)
        let bytes = try DeviceFileRecord.encode(state, store: fork.identifier, key: keys.deviceFile)
        commitNumberStore.records.withLock { $0[fork.identifier] = bytes }
        try ring.change()
        try ring.keepCommitNumber()
        #expect(commitNumberStore.load(for: fork.identifier) == bytes)
        // A larger number is stored, as always.
        try ring.change()
        try ring.keepCommitNumber()
        #expect(try kept() == 8)
    }

    @Test("S2: a stored state that is removed while the store is open is stored again, without a commit")
    func removed() throws {
        try saveState(commit: 5)
        let ring = try ring(try records(commit: 5))
        try ring.unlock(passphrase: passphrase())
        commitNumberStore.records.withLock { $0 = [:] }
        ring.close()
        #expect(try kept() == 5)
    }

    @Test("S2: after a save that failed the same state is stored again, even if the file has it")
    func savedAgain() throws {
        try saveState(commit: 4)
        let ring = try ring(try records(commit: 5))
        commitNumberStore.isFull.store(true, ordering: .relaxed)
        try ring.unlock(passphrase: passphrase())
        #expect(ring.stateFault == .diskFull)
        try saveState(commit: 5)
        commitNumberStore.isFull.store(false, ordering: .relaxed)
        try ring.keepCommitNumber()
        #expect(ring.stateFault == nil)
    }
}
