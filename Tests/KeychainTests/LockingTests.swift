import Foundation
import KeychainTesting
import SecretCrypto
import Synchronization
import Testing

@testable import Keychain

@Suite("locks during operations")
struct LockingTests {
    /// The bytes of a key, in ordinary memory: to look for in the arena.
    private func bytes(of key: RevocableSecret) throws -> [UInt8] {
        try key.using { (key) throws(CryptoError) in [UInt8](copying: key.bytes) }
    }

    /// Runs `body` on a separate thread.
    private func onThread(_ body: @escaping @Sendable () -> Void) {
        Thread { body() }.start()
    }

    @Test("L2, L4: a lock that comes while an unlock derives its key holds", arguments: [false, true])
    func lockDuringUnlock(isFirst: Bool) throws {
        let fixture = try KeyRingFixture(unlocked: !isFirst)
        fixture.ring.lock()
        let state = fixture.ring.state
        fixture.store.beforeNextRead { fixture.ring.lock() }
        #expect(throws: KeychainFault.interactionNotAllowed) { try fixture.unlock() }
        #expect(fixture.ring.state == state)
        #expect(!fixture.ring.isAvailable(.whenUnlocked))
        // An earlier lock does not count.
        try fixture.unlock()
        #expect(fixture.ring.state == .unlocked)
    }

    @Test("L2: open secrets fail with interactionNotAllowed after a lock, if their class requires it")
    func openContents() throws {
        let fixture = try KeyRingFixture()
        let contents = [UInt8](repeating: 3, count: 100)
        var open: [ProtectionClass: SealedSecret] = [:]
        for protection in ProtectionClass.allCases {
            let sealed = try fixture.items.seal(withContents: .sample(protection), contents)
            let item = try fixture.items.open(sealed.record)
            open[protection] = try fixture.items.secret(of: item, record: sealed.record, ciphertext: sealed.secret)
        }
        fixture.ring.lock()
        for (protection, secret) in open {
            if protection.availability != .unlocked || protection == .whenUnlockedUnlessOpen {
                #expect(try secret.all() == contents)
            } else {
                // At the end too, where nothing is left to decrypt.
                for (offset, count) in [(0, 100), (50, 1), (100, 1), (0, 0)] {
                    #expect(throws: KeychainFault.interactionNotAllowed) {
                        try secret.bytes(at: offset, count: count)
                    }
                }
            }
        }
        // Not by the descriptors of the time before: they had other keys' objects.
        try fixture.unlock()
        #expect(throws: KeychainFault.interactionNotAllowed) { try open[.whenUnlocked]?.all() }
    }

    @Test("L2: an open secret of UnlessOpen stays usable, but no other can be opened")
    func unlessOpen() throws {
        let fixture = try KeyRingFixture()
        let record = try fixture.add(.sample(.whenUnlockedUnlessOpen), [1])
        let item = try fixture.items.open(record)
        fixture.ring.lock()
        #expect(throws: KeychainFault.interactionNotAllowed) { try fixture.items.open(record) }
        #expect(throws: KeychainFault.interactionNotAllowed) {
            try fixture.items.secret(of: item, record: record, ciphertext: [UInt8](repeating: 0, count: 64))
        }
    }

    @Test("H2: a lock wipes exactly the class keys that it must; the user key is wiped after the unlock")
    func wiping() throws {
        let fixture = try KeyRingFixture()
        let arena = SecretArena.shared
        let store = try #require(fixture.store.records.storeRecord)
        let userKey = try {
            let root = try SlotUnlock.root(passphrase: SecretBytes(text: "correct"), store: store)
            let key = try SlotUnlock.userKey(
                root: root, kind: .passphrase, slots: Array(fixture.store.records.slotRecords.values), store: store)
            return [UInt8](copying: key.bytes)
        }()
        #expect(!arena.contains(userKey))
        var keys: [(ProtectionClass, [UInt8])] = []
        for protection in ProtectionClass.allCases {
            let own = try fixture.ring.currentKeys(for: protection)
            for key in [own.metadata, own.secret, own.exchange].compactMap(\.self) {
                keys.append((protection, try bytes(of: key)))
            }
        }
        for (_, key) in keys { #expect(arena.contains(key)) }
        fixture.ring.lock()
        for (protection, key) in keys {
            #expect(arena.contains(key) == (protection.availability != .unlocked))
        }
        let master = try bytes(of: fixture.ring.masterKeys().lookup)
        #expect(arena.contains(master))
        fixture.ring.close()
        for (_, key) in keys { #expect(!arena.contains(key)) }
        #expect(!arena.contains(master))
    }

    @Test("L2: a lock waits for operations that use a key, also a second lock; then no operation gets a key")
    func waiting() throws {
        let fixture = try KeyRingFixture()
        let key = try fixture.ring.currentKeys(for: .whenUnlocked).secret
        let isUsing = DispatchSemaphore(value: 0), mayEnd = DispatchSemaphore(value: 0)
        let isLocked = DispatchSemaphore(value: 0)
        let ended = Atomic<Bool>(false)
        onThread {
            try? key.using { (_) throws(CryptoError) in
                isUsing.signal()
                mayEnd.wait()
                ended.store(true, ordering: .sequentiallyConsistent)
            }
        }
        isUsing.wait()
        let ring = fixture.ring
        for _ in 0..<2 {
            onThread {
                ring.lock()
                let hasEnded = ended.load(ordering: .sequentiallyConsistent)
                #expect(hasEnded)
                isLocked.signal()
            }
        }
        #expect(isLocked.wait(timeout: .now() + 0.2) == .timedOut)
        #expect(ring.state == .locked)
        mayEnd.signal()
        for _ in 0..<2 { #expect(isLocked.wait(timeout: .now() + 10) == .success) }
        #expect(!key.isAvailable)
    }

    @Test("L2: an unlock that comes during a lock ends with keys that can be used")
    func unlockDuringLock() throws {
        let fixture = try KeyRingFixture()
        let key = try fixture.ring.currentKeys(for: .whenUnlocked).secret
        let isUsing = DispatchSemaphore(value: 0), mayEnd = DispatchSemaphore(value: 0)
        let done = DispatchSemaphore(value: 0)
        onThread {
            try? key.using { (_) throws(CryptoError) in
                isUsing.signal()
                mayEnd.wait()
            }
        }
        isUsing.wait()
        onThread {
            fixture.ring.lock()
            done.signal()
        }
        for _ in 0..<5000 where fixture.ring.state != .locked { usleep(1000) }
        onThread {
            #expect(throws: Never.self) { try fixture.unlock() }
            done.signal()
        }
        #expect(done.wait(timeout: .now() + 0.3) == .timedOut)
        mayEnd.signal()
        for _ in 0..<2 { #expect(done.wait(timeout: .now() + 10) == .success) }
        #expect(fixture.ring.state == .unlocked && fixture.ring.isAvailable(.whenUnlocked))
    }

    @Test(
        "locks, unlocks and reads of many threads: never a wrong plaintext, and the final state is that of the last call"
    )
    func storm() async throws {
        let fixture = try KeyRingFixture()
        let record = try fixture.add(.sample(), [42])
        let stays = try fixture.add(.sample(.afterFirstUnlock, id: 11, account: "b"), [43])
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<6 {
                group.addTask {
                    for _ in 0..<60 {
                        switch worker {
                        case 0: fixture.ring.lock()
                        case 1: Self.unlock(fixture)
                        case 2: #expect(throws: KeychainFault.authFailed) { try fixture.unlock("wrong") }
                        case 3: #expect((try? fixture.contents(stays)) == [43])
                        default: Self.read(fixture, record)
                        }
                    }
                }
            }
        }
        try fixture.unlock()
        #expect(try fixture.contents(record) == [42])
        fixture.ring.lock()
        #expect(fixture.ring.state == .locked && !fixture.ring.isAvailable(.whenUnlocked))
    }

    /// A lock during the unlock prevails.
    private static func unlock(_ fixture: KeyRingFixture) {
        do {
            try fixture.unlock()
        } catch {
            #expect(error as? KeychainFault == .interactionNotAllowed)
        }
    }

    private static func read(_ fixture: KeyRingFixture, _ record: ItemRecord) {
        do {
            #expect(try fixture.contents(record) == [42])
        } catch {
            #expect(error as? KeychainFault == .interactionNotAllowed)
        }
    }
}
