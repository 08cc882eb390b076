import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain

@Suite("the key ring")
struct KeyRingTests {
    /// Which classes can be used now.
    private func available(_ ring: KeyRing) -> Set<Protection> {
        Set(Protection.allCases.filter { ring.isAvailable($0) })
    }

    private let always: Set<Protection> = [.always, .alwaysThisDeviceOnly]
    private let afterFirstUnlock: Set<Protection> = [
        .always, .alwaysThisDeviceOnly, .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly,
    ]

    @Test("states follow one another as section 4 says")
    func states() {
        let start = LockState.beforeFirstUnlock
        #expect(start.locking == .beforeFirstUnlock)
        #expect(start.unlocking == .unlocked)
        #expect(start.unlocking.locking == .locked)
        #expect(start.unlocking.locking.unlocking == .unlocked)
        for (state, permitted) in [
            (start, [Protection.Availability.always]), (.unlocked, [.always, .firstUnlock, .unlocked]),
            (.locked, [.always, .firstUnlock]),
        ] {
            for availability in [Protection.Availability.always, .firstUnlock, .unlocked] {
                #expect(state.permits(availability) == permitted.contains(availability))
            }
        }
    }

    @Test("S3: created, opened, unlocked, locked, unlocked: each class is usable when it should be")
    func availability() throws {
        let bench = try Bench(unlocked: false)
        #expect(bench.ring.state == .beforeFirstUnlock)
        #expect(available(bench.ring) == always)
        bench.ring.lock()
        #expect(bench.ring.state == .beforeFirstUnlock)
        try bench.unlock()
        #expect(bench.ring.state == .unlocked)
        #expect(available(bench.ring) == Set(Protection.allCases))
        bench.ring.lock()
        #expect(bench.ring.state == .locked)
        #expect(available(bench.ring) == afterFirstUnlock)
        try bench.unlock()
        #expect(available(bench.ring) == Set(Protection.allCases))
        #expect(bench.store.writeCount == 1)
    }

    @Test("a wrong passphrase is authFailed in every state and changes nothing")
    func wrongPassphrase() throws {
        let bench = try Bench(unlocked: false)
        func refused() {
            #expect(throws: KeychainError.authFailed) { try bench.unlock("wrong") }
            #expect(throws: KeychainError.authFailed) { try bench.unlock("") }
        }
        refused()
        #expect(bench.ring.state == .beforeFirstUnlock)
        try bench.unlock()
        refused()
        #expect(bench.ring.state == .unlocked)
        #expect(available(bench.ring) == Set(Protection.allCases))
        bench.ring.lock()
        refused()
        #expect(bench.ring.state == .locked)
    }

    @Test("tags: Always before the first unlock, look-up from it on; both stay over locks and mounts")
    func tags() throws {
        let bench = try Bench(unlocked: false)
        let always = try bench.ring.alwaysTag(parts: [[1]])
        #expect(throws: KeychainError.interactionNotAllowed) { try bench.ring.lookupTag(parts: [[1]]) }
        try bench.unlock()
        let tag = try bench.ring.lookupTag(parts: [[1]])
        bench.ring.lock()
        #expect(try bench.ring.lookupTag(parts: [[1]]) == tag)
        #expect(try bench.ring.alwaysTag(parts: [[1]]) == always)
        #expect(tag.count == 16 && always.count == 16 && tag != always)
        let again = try Bench(copying: bench.store.records)
        try again.unlock()
        #expect(try again.ring.lookupTag(parts: [[1]]) == tag)
        #expect(try again.ring.lookupTag(parts: [[1], []]) != tag)
    }

    @Test("L5: a cost that is out of bounds is refused before anything is derived")
    func costs() throws {
        let wrong = [
            Argon2id.Cost(passes: 11, memory: 8192), Argon2id.Cost(passes: 1, memory: (2 << 30) + 1024),
            Argon2id.Cost(passes: 0, memory: 8192), Argon2id.Cost(passes: 1, memory: 0),
            Argon2id.Cost(passes: .max, memory: .max),
        ]
        let records = try Bench(unlocked: false).store.records
        for cost in wrong {
            let store = InMemoryRecordStore()
            let clock = ContinuousClock()
            let time = clock.measure {
                #expect(throws: KeychainError.unacceptableCost) {
                    try KeyRing.create(
                        in: store, passphrase: SecretBytes(text: "x"), cost: cost, device: Bench.device())
                }
                #expect(throws: KeychainError.unacceptableCost) {
                    var changed = records
                    changed.storeRecord?.cost = cost
                    try Bench(copying: changed).unlock()
                }
            }
            #expect(store.writeCount == 0)
            #expect(time < .seconds(5))
        }
    }

    @Test("the store's own errors come through, and nothing is left half done")
    func storeErrors() throws {
        let store = InMemoryRecordStore()
        store.failNextWrite(with: .diskFull)
        #expect(throws: KeychainError.diskFull) {
            try KeyRing.create(in: store, passphrase: SecretBytes(text: "x"), cost: .cheap, device: Bench.device())
        }
        #expect(store.records.storeRecord == nil && store.records.classKeyRecords.isEmpty)
        #expect(throws: KeychainError.notAKeychain) { try KeyRing(store: store, device: Bench.device()) }
        #expect(throws: KeychainError.param) {
            try KeyRing(store: store, device: SecretBytes(text: "short"))
        }
        var records = try Bench(unlocked: false).store.records
        records.storeRecord?.format = 99
        #expect(throws: KeychainError.unknownFormat(99)) { try Bench(copying: records) }
    }

    @Test("after close nothing opens any more")
    func closing() throws {
        let bench = try Bench()
        let record = try bench.add(.sample(.always), [1])
        bench.ring.close()
        #expect(available(bench.ring).isEmpty)
        #expect(throws: KeychainError.interactionNotAllowed) { try bench.ring.lookupTag(parts: []) }
        #expect(throws: KeychainError.interactionNotAllowed) { try bench.items.open(record) }
        #expect(throws: KeychainError.notAvailable) { try bench.unlock() }
        bench.ring.close()
    }

    @Test("S2: the header row is authenticated and new in a new store")
    func header() throws {
        let bench = try Bench()
        let record = try #require(bench.store.records.storeRecord)
        #expect(try bench.ring.header(of: record).commit == 1)
        var changed = record
        changed.header = try bench.ring.sealed(
            StoreHeader(commit: 7, rows: try #require(RowSum(count: 3, digest: [UInt8](repeating: 9, count: 32)))))
        #expect(try bench.ring.header(of: changed).commit == 7)
        #expect(try bench.ring.header(of: changed).rows.digest == [UInt8](repeating: 9, count: 32))
        changed.header.ciphertext[0] ^= 1
        #expect(throws: KeychainError.decode) { try bench.ring.header(of: changed) }
        changed.header = try #require(try Bench().store.records.storeRecord).header
        #expect(throws: KeychainError.decode) { try bench.ring.header(of: changed) }
    }
}
