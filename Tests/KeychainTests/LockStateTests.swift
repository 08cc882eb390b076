import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain

/// Section 4: the three states, every event in each of them, and which keys come and go with it.
@Suite("lock states") struct LockStateTests {
    enum Event: CaseIterable {
        case unlock, wrongPassphrase, damagedKeys, fullDisk, lock, lockTwice, close, reopen
    }

    static let all: [LockState] = [.beforeFirstUnlock, .unlocked, .locked]
    static let transitions = all.flatMap { state in Event.allCases.map { (state, $0) } }

    @Test("L1: the lock state after an unlock and a lock, and the operations that each state permits")
    func value() {
        let unlocked = Self.all.map(\.unlocking), locked = Self.all.map(\.locking)
        #expect(unlocked == [.unlocked, .unlocked, .unlocked])
        #expect(locked == [.beforeFirstUnlock, .locked, .locked])
        #expect(Self.all.map(\.isAfterFirstUnlock) == [false, true, true])
        #expect(Self.all.map { $0.permits(.always) } == [true, true, true])
        #expect(Self.all.map { $0.permits(.firstUnlock) } == [false, true, true])
        #expect(Self.all.map { $0.permits(.unlocked) } == [false, true, false])
    }

    /// Returns the state of a key ring after the event; nil if the ring is closed permanently.
    private static func next(_ state: LockState, _ event: Event) -> LockState? {
        switch event {
        case .unlock: .unlocked
        case .wrongPassphrase, .damagedKeys: state
        // Only a new device must write: an unlock succeeds without space.
        case .fullDisk: .unlocked
        case .lock, .lockTwice: state == .beforeFirstUnlock ? .beforeFirstUnlock : .locked
        case .close: nil
        case .reopen: .beforeFirstUnlock
        }
    }

    private static func fixture(in state: LockState) throws -> KeyRingFixture {
        let fixture = try KeyRingFixture(unlocked: state != .beforeFirstUnlock)
        if state == .locked { fixture.ring.lock() }
        #expect(fixture.ring.state == state)
        return fixture
    }

    /// Returns the usable classes of a ring.
    private static func usable(_ ring: KeyRing) -> Set<ProtectionClass> {
        Set(ProtectionClass.allCases.filter { ring.isAvailable($0) })
    }

    private static func permitted(in state: LockState) -> Set<ProtectionClass> {
        Set(ProtectionClass.allCases.filter { state.permits($0.availability) })
    }

    @Test(
        "L1: each event in each state leads where it should; class keys appear and vanish with it",
        arguments: transitions)
    func transition(_ state: LockState, _ event: Event) throws {
        var fixture = try Self.fixture(in: state)
        switch event {
        case .unlock: try fixture.unlock()
        case .wrongPassphrase: #expect(throws: KeychainFault.authFailed) { try fixture.unlock("wrong") }
        case .damagedKeys:
            try fixture.store.write { (writer) throws(KeychainFault) in
                var record = try writer.store()
                record.masterKeys.ciphertext[0] ^= 1
                try writer.put(record)
            }
            #expect(throws: KeychainFault.decode) { try fixture.unlock() }
        case .fullDisk:
            fixture.store.failNextWrite(with: .diskFull)
            try fixture.unlock()
        case .lock: fixture.ring.lock()
        case .lockTwice:
            fixture.ring.lock()
            fixture.ring.lock()
        case .close: fixture.ring.close()
        case .reopen: fixture = try KeyRingFixture(copying: fixture.store.records)
        }
        guard let next = Self.next(state, event) else {
            #expect(Self.usable(fixture.ring).isEmpty)
            #expect(throws: KeychainFault.notAvailable) { try fixture.unlock() }
            fixture.ring.lock()
            fixture.ring.close()
            #expect(Self.usable(fixture.ring).isEmpty)
            return
        }
        #expect(fixture.ring.state == next)
        #expect(Self.usable(fixture.ring) == Self.permitted(in: next))
        #expect(((try? fixture.ring.masterKeys()) != nil) == next.isAfterFirstUnlock)
        #expect((try? fixture.ring.alwaysKeys()) != nil)
        // UnlessOpen: an addition while locked needs only the public key, which is available after the first unlock.
        let adding = (try? fixture.ring.currentKeys(for: .whenUnlockedUnlessOpen))?.publicKey
        #expect((adding != nil) == next.isAfterFirstUnlock)
    }

    @Test("L1: an unlock that fails leaves a ring that the right passphrase still opens", arguments: all)
    func afterFailure(_ state: LockState) throws {
        let fixture = try Self.fixture(in: state)
        for _ in 0..<3 { #expect(throws: KeychainFault.authFailed) { try fixture.unlock("wrong") } }
        try fixture.unlock()
        #expect(fixture.ring.state == .unlocked && Self.usable(fixture.ring) == Set(ProtectionClass.allCases))
    }
}
