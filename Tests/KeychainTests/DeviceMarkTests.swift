import KeychainTesting
import SecretCrypto
import Synchronization
import Testing

@testable import Keychain

/// Two devices with copies of one store, as in a synchronized folder.
struct TwoDevices {
    /// The copies, and the files of the devices, by number.
    let stores = [InMemoryRecordStore(), InMemoryRecordStore()]
    let files = [FakeCommitNumberStore(), FakeCommitNumberStore()]

    /// Creates a store on the first device and enters the second one. Both have equal copies afterwards.
    init() throws {
        try KeyRing.create(
            in: stores[0], passphrase: SecretBytes(text: "correct"), cost: .cheap, device: KeyRingFixture.device(1),
            commitNumberStore: files[0])
        copy(from: 0, to: 1)
        try session(1)
        copy(from: 1, to: 0)
        try session(0)
    }

    func copy(from: Int, to: Int) { stores[to].records = stores[from].records }

    func opened(_ device: Int) throws -> KeyRing {
        let key = try KeyRingFixture.device(UInt8(device + 1))
        return try KeyRing(store: stores[device], device: key, commitNumberStore: files[device])
    }

    func unlocked(_ device: Int, acceptingRollback: Bool = false) throws -> KeyRing {
        let ring = try opened(device)
        try ring.unlock(passphrase: SecretBytes(text: "correct"), acceptingRollback: acceptingRollback)
        return ring
    }

    /// Unlocks a copy, changes it that many times, and closes it.
    func session(_ device: Int, changes: Int = 0, acceptingRollback: Bool = false) throws {
        let ring = try unlocked(device, acceptingRollback: acceptingRollback)
        for _ in 0..<changes { try ring.change() }
        ring.close()
    }

    func refusal(_ device: Int) throws -> KeychainFault? {
        let ring = try opened(device)
        let secret = try SecretBytes(text: "correct")
        do throws(KeychainFault) {
            try ring.unlock(passphrase: secret)
            return nil
        } catch {
            return error
        }
    }

    /// Returns the number in the row of a device.
    func mark(_ device: Int) -> Int64 { stores[device].records.deviceRecords[Int64(device + 1)]?.mark.commit ?? -1 }

    /// Returns the number of commits of a copy.
    func commit(_ device: Int) throws -> Int64 {
        let ring = try unlocked(device)
        defer { ring.close() }
        return try ring.commitNumber()
    }
}

extension KeyRing {
    /// Commits a transaction, like any change of an item.
    func change() throws(KeychainFault) {
        try store.write(by: ledger) { (_) throws(KeychainFault) in }
    }
}

@Suite("S2: the mark of a device")
struct DeviceMarkTests {
    let devices: TwoDevices

    init() throws { devices = try TwoDevices() }

    @Test(
        "S2: a copy of another device with a larger number that lacks this device's changes is refused until it is accepted"
    )
    func fork() throws {
        try devices.session(0, changes: 1)
        try devices.session(1, changes: 6)
        let mark = devices.mark(0)
        devices.copy(from: 1, to: 0)
        #expect(try devices.refusal(0) == .missingChanges(mark: mark))
        #expect(try devices.refusal(0) == .missingChanges(mark: mark))
        #expect(devices.stores[0].records.deviceRecords == devices.stores[1].records.deviceRecords)
        // From then on the accepted copy is the newest one.
        try devices.session(0, acceptingRollback: true)
        #expect(try devices.refusal(0) == nil)
        devices.copy(from: 1, to: 0)
        guard case .rolledBack? = try devices.refusal(0) else { Issue.record("accepted"); return }
    }

    @Test("S2: devices that change copies in turn, each after the other's changes have reached it, are never refused")
    func inTurn() throws {
        for round in 1...6 {
            let (from, to) = (round % 2, (round + 1) % 2)
            try devices.session(from, changes: round)
            devices.copy(from: from, to: to)
            #expect(try devices.refusal(to) == nil)
        }
    }

    @Test("S2: a session that only reads writes nothing, so that both copies stay the same")
    func readingOnly() throws {
        let before = devices.stores[0].records
        for device in [0, 1] {
            let ring = try devices.unlocked(device)
            ring.lock()
            try ring.keepCommitNumber()
            try ring.unlock(passphrase: SecretBytes(text: "correct"))
            ring.close()
        }
        #expect(devices.stores[0].records.storeRecord == before.storeRecord)
        #expect(devices.stores[1].records.storeRecord == before.storeRecord)
        devices.copy(from: 1, to: 0)
        #expect(try devices.refusal(0) == nil)
    }

    @Test(
        "S2: the first change after each unlock writes the mark, the others do not, and a lock or the end does after others"
    )
    func schedule() throws {
        let ring = try devices.unlocked(0)
        var commit = try ring.commitNumber()
        func change() throws {
            try ring.change()
            commit += 1
        }
        try change()
        #expect(devices.mark(0) == commit)
        // Nothing was changed since.
        ring.lock()
        try ring.keepCommitNumber()
        #expect(try ring.commitNumber() == commit)
        try ring.unlock(passphrase: SecretBytes(text: "correct"))
        try change()
        try change()
        try change()
        #expect(devices.mark(0) == commit - 2)
        try ring.keepCommitNumber()
        #expect(try ring.commitNumber() == commit)
        ring.lock()
        #expect(devices.mark(0) == commit - 2)
        try ring.keepCommitNumber()
        commit += 1
        #expect(devices.mark(0) == commit)
        try ring.keepCommitNumber()
        #expect(try ring.commitNumber() == commit)
        // A change while it is locked.
        try change()
        ring.close()
        #expect(devices.mark(0) == commit + 1)
        #expect(try devices.commit(0) == commit + 1)
    }

    @Test(
        "S2: after a crash between the commit of a mark and the device file, and during a session, the store is accepted"
    )
    func crash() throws {
        devices.files[0].isFull.store(true, ordering: .relaxed)
        let before = devices.files[0].load(for: try devices.opened(0).storeID)
        let ring = try devices.unlocked(0)
        try ring.change()
        ring.wipe()
        #expect(devices.mark(0) > 0 && devices.files[0].load(for: ring.storeID) == before)
        devices.files[0].isFull.store(false, ordering: .relaxed)
        let next = try devices.unlocked(0)
        try next.change()
        try next.keepCommitNumber()
        try next.change()
        next.wipe()
        #expect(try devices.refusal(0) == nil)
    }

    @Test(
        "S2: a mark in the row that is older, or has the same number and another ID, or a missing row is refused; a newer one is accepted",
        arguments: [-1, 0, 1] as [Int64], [false, true])
    func compared(difference: Int64, isMissing: Bool) throws {
        try devices.session(0, changes: 1)
        let mark = devices.mark(0)
        // As a program with the user key would write it: another commit, and consistent sums.
        try devices.session(1, changes: 6)
        devices.copy(from: 1, to: 0)
        var records = devices.stores[0].records
        records.deviceRecords[1]?.mark = DeviceMark(commit: mark + difference, commitID: Array(0..<16))
        if isMissing { records.deviceRecords[1] = nil }
        devices.stores[0].records = records.withCommittedKeys()
        #expect(try devices.refusal(0) == (difference > 0 && !isMissing ? nil : .missingChanges(mark: mark)))
    }

    @Test("S2: in the very state that this device has seen, the mark is not compared: its row may be damaged then")
    func sameState() throws {
        try devices.session(0, changes: 1)
        devices.stores[0].records.deviceRecords[1] = nil
        let ring = try KeyRing(
            store: devices.stores[0], device: KeyRingFixture.device(1), commitNumberStore: devices.files[0],
            isExamination: true)
        try ring.unlock(passphrase: SecretBytes(text: "correct"))
        #expect(ring.rollbackCheck == .passed)
    }

    @Test(
        "S2: changed rows of keys, or a row that was removed, do not get a mark, and stay reported; items can still be changed"
    )
    func damagedRow() throws {
        for isRemoved in [false, true] {
            let devices = try TwoDevices()
            let ring = try devices.unlocked(0)
            if isRemoved {
                devices.stores[0].records.deviceRecords[1] = nil
            } else {
                devices.stores[0].records.deviceRecords[2]?.tag[0] ^= 1
            }
            try ring.change()
            try ring.change()
            let commit = try ring.commitNumber()
            ring.lock()
            try ring.keepCommitNumber()
            try ring.keepCommitNumber()
            // One attempt.
            #expect(try ring.commitNumber() == commit + 1)
            #expect(devices.mark(0) == (isRemoved ? -1 : 0))
            ring.close()
            #expect(try devices.refusal(0) == .decode)
        }
    }

    @Test("S2, L5: a rotation keeps the marks; the first change after an unlock may be one")
    func rotation() throws {
        try devices.session(1, changes: 3)
        devices.copy(from: 1, to: 0)
        let ring = try devices.unlocked(0)
        let other = devices.stores[0].records.deviceRecords[2]
        let userKey = try ring.userKey(passphrase: SecretBytes(text: "correct"))
        _ = try ring.renewKeys(userKey: userKey)
        let commit = try ring.commitNumber()
        #expect(devices.mark(0) == commit)
        #expect(devices.stores[0].records.deviceRecords[2] == other)
        ring.close()
        #expect(try devices.refusal(0) == nil)
        devices.copy(from: 0, to: 1)
        #expect(try devices.refusal(1) == nil)
    }

    @Test("S2: the mark is part of the key sum")
    func counted() throws {
        try devices.session(0, changes: 1)
        for part in 0..<2 {
            var records = devices.stores[0].records
            if part == 0 {
                records.deviceRecords[1]?.mark.commit += 1
            } else {
                records.deviceRecords[1]?.mark.commitID[15] ^= 1
            }
            let copy = try KeyRing(store: InMemoryRecordStore(records), device: KeyRingFixture.device(1))
            #expect(throws: KeychainFault.decode) { try copy.unlock(passphrase: SecretBytes(text: "correct")) }
        }
    }

    @Test("S2: a verification that has read the row of the device stays right when a mark is written")
    func verification() throws {
        let ring = try devices.unlocked(0)
        let id = ring.ledger.beginPass()
        defer { ring.ledger.endPass(id) }
        ring.ledger[pass: id].reached = RowPosition(table: .itemKey, id: .max)
        let before = ring.ledger[pass: id].sums
        try ring.change()
        #expect(devices.mark(0) > 0 && ring.ledger[pass: id].sums != before)
    }

    @Test("S2: a copy that the device has accepted or restored stays accepted, although its state could not be stored")
    func unstored() throws {
        try devices.session(0, changes: 1)
        try devices.session(1, changes: 6)
        devices.copy(from: 1, to: 0)
        let kept = devices.files[0].load(for: try devices.opened(0).storeID)
        devices.files[0].isFull.store(true, ordering: .relaxed)
        try devices.session(0, acceptingRollback: true)
        devices.files[0].isFull.store(false, ordering: .relaxed)
        #expect(devices.files[0].load(for: try devices.opened(0).storeID) == kept)
        #expect(try devices.refusal(0) == nil)
        // As `restore` does it: without the file of the device.
        try devices.session(0, changes: 1)
        devices.copy(from: 1, to: 0)
        let key = try KeyRingFixture.device(1)
        let restored = try KeyRing(store: devices.stores[0], device: key)
        try restored.unlock(passphrase: SecretBytes(text: "correct"))
        try restored.raiseCommit(above: 1 << 32)
        try restored.change()
        let commit = try restored.commitNumber()
        restored.close()
        #expect(devices.mark(0) == commit - 1)
        #expect(try devices.refusal(0) == nil)
    }

    @Test("S2: a copy that another process has stored with a mark that this one lacks is not replaced")
    func stored() throws {
        let ring = try devices.unlocked(0)
        try ring.change()
        // The other process: an equal copy, changed later.
        let copy = InMemoryRecordStore(devices.stores[0].records)
        let other = try KeyRing(store: copy, device: KeyRingFixture.device(1), commitNumberStore: devices.files[0])
        try other.unlock(passphrase: SecretBytes(text: "correct"))
        try other.change()
        try other.keepCommitNumber()
        let kept = devices.files[0].load(for: ring.storeID)
        for _ in 0..<3 { try ring.change() }
        try ring.keepCommitNumber()
        #expect(devices.files[0].load(for: ring.storeID) == kept)
    }
}
