import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain

@Suite("the key ring")
struct KeyRingTests {
    /// Returns the classes that can be used now.
    private func available(_ ring: KeyRing) -> Set<ProtectionClass> {
        Set(ProtectionClass.allCases.filter { ring.isAvailable($0) })
    }

    private let always: Set<ProtectionClass> = [.always, .alwaysThisDeviceOnly]
    private let afterFirstUnlock: Set<ProtectionClass> = [
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
            (start, [ProtectionClass.Availability.always]), (.unlocked, [.always, .firstUnlock, .unlocked]),
            (.locked, [.always, .firstUnlock]),
        ] {
            for availability in [ProtectionClass.Availability.always, .firstUnlock, .unlocked] {
                #expect(state.permits(availability) == permitted.contains(availability))
            }
        }
    }

    @Test("S3: created, opened, unlocked, locked, unlocked: each class is usable when it should be")
    func availability() throws {
        let fixture = try KeyRingFixture(unlocked: false)
        #expect(fixture.ring.state == .beforeFirstUnlock)
        #expect(available(fixture.ring) == always)
        fixture.ring.lock()
        #expect(fixture.ring.state == .beforeFirstUnlock)
        try fixture.unlock()
        #expect(fixture.ring.state == .unlocked)
        #expect(available(fixture.ring) == Set(ProtectionClass.allCases))
        fixture.ring.lock()
        #expect(fixture.ring.state == .locked)
        #expect(available(fixture.ring) == afterFirstUnlock)
        try fixture.unlock()
        #expect(available(fixture.ring) == Set(ProtectionClass.allCases))
        #expect(fixture.store.writeCount == 1)
    }

    @Test("a wrong passphrase is authFailed in every state and changes nothing")
    func wrongPassphrase() throws {
        let fixture = try KeyRingFixture(unlocked: false)
        func refused() {
            #expect(throws: KeychainFault.authFailed) { try fixture.unlock("wrong") }
            #expect(throws: KeychainFault.authFailed) { try fixture.unlock("") }
        }
        refused()
        #expect(fixture.ring.state == .beforeFirstUnlock)
        try fixture.unlock()
        refused()
        #expect(fixture.ring.state == .unlocked)
        #expect(available(fixture.ring) == Set(ProtectionClass.allCases))
        fixture.ring.lock()
        refused()
        #expect(fixture.ring.state == .locked)
    }

    @Test("tags: Always before the first unlock, look-up from it on; both stay over locks and mounts")
    func tags() throws {
        let fixture = try KeyRingFixture(unlocked: false)
        let always = try fixture.ring.alwaysTag(parts: [[1]])
        #expect(throws: KeychainFault.interactionNotAllowed) { try fixture.ring.lookupTag(parts: [[1]]) }
        try fixture.unlock()
        let tag = try fixture.ring.lookupTag(parts: [[1]])
        fixture.ring.lock()
        #expect(try fixture.ring.lookupTag(parts: [[1]]) == tag)
        #expect(try fixture.ring.alwaysTag(parts: [[1]]) == always)
        #expect(tag.count == 16 && always.count == 16 && tag != always)
        let again = try KeyRingFixture(copying: fixture.store.records)
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
        let records = try KeyRingFixture(unlocked: false).store.records
        for cost in wrong {
            let store = InMemoryRecordStore()
            let clock = ContinuousClock()
            let time = clock.measure {
                #expect(throws: KeychainFault.unacceptableCost) {
                    try KeyRing.create(
                        in: store, passphrase: SecretBytes(text: "x"), cost: cost, device: KeyRingFixture.device())
                }
                #expect(throws: KeychainFault.unacceptableCost) {
                    var changed = records
                    changed.storeRecord?.cost = cost
                    try KeyRingFixture(copying: changed).unlock()
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
        #expect(throws: KeychainFault.diskFull) {
            try KeyRing.create(
                in: store, passphrase: SecretBytes(text: "x"), cost: .cheap, device: KeyRingFixture.device())
        }
        #expect(store.records.storeRecord == nil && store.records.classKeyRecords.isEmpty)
        #expect(throws: KeychainFault.notAKeychain) { try KeyRing(store: store, device: KeyRingFixture.device()) }
        #expect(throws: KeychainFault.param) {
            try KeyRing(store: store, device: SecretBytes(text: "short"))
        }
        var records = try KeyRingFixture(unlocked: false).store.records
        records.storeRecord?.format = 99
        #expect(throws: KeychainFault.unknownFormat(99)) { try KeyRingFixture(copying: records) }
    }

    @Test("after close nothing opens any more")
    func closing() throws {
        let fixture = try KeyRingFixture()
        let record = try fixture.add(.sample(.always), [1])
        fixture.ring.close()
        #expect(available(fixture.ring).isEmpty)
        #expect(throws: KeychainFault.interactionNotAllowed) { try fixture.ring.lookupTag(parts: []) }
        #expect(throws: KeychainFault.interactionNotAllowed) { try fixture.items.open(record) }
        #expect(throws: KeychainFault.notAvailable) { try fixture.unlock() }
        fixture.ring.close()
    }

    @Test("S2: the header row is authenticated and new in a new store")
    func header() throws {
        let fixture = try KeyRingFixture()
        let record = try #require(fixture.store.records.storeRecord)
        #expect(try fixture.ring.header(of: record).commit == 1)
        var changed = record
        var header = StoreHeader()
        header.commit = 7
        header.sums.rows = try #require(DigestSum(count: 3, digest: [UInt8](repeating: 9, count: 32)))
        header.rulesRow = RowID(rawValue: 300)
        changed.header = try fixture.ring.sealed(header, for: changed)
        #expect(try fixture.ring.header(of: changed) == header)
        for bytes in [
            header.encoded + [0], header.encoded.dropLast(), [UInt8](repeating: 0xFF, count: StoreHeader.byteCount),
        ] {
            #expect(throws: KeychainFault.decode) { try StoreHeader(decoding: Array(bytes)) }
        }
        var later = header.encoded
        later[StoreHeader.byteCount - 1] = 1
        #expect(try StoreHeader(decoding: later).encoded == later, "bytes of later versions are kept")
        changed.header.ciphertext[0] ^= 1
        #expect(throws: KeychainFault.decode) { try fixture.ring.header(of: changed) }
        changed.header = try #require(try KeyRingFixture().store.records.storeRecord).header
        #expect(throws: KeychainFault.decode) { try fixture.ring.header(of: changed) }
    }
}
