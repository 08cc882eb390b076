import Dispatch
import SecretCrypto
import Synchronization
import Testing

@Suite struct RevocableSecretTests {
    @Test("L2: after revoke the secret is wiped and refused")
    func revocation() throws {
        let canary = [UInt8](200..<232)
        let arena = SecretArena(capacity: 4096)
        let key = RevocableSecret(try secret(canary, in: arena))
        #expect(key.isAvailable)
        let count = try key.use { (secret) throws(CryptoError) in secret.count }
        #expect(count == 32 && arena.contains(canary))
        key.revoke()
        #expect(!key.isAvailable && !arena.contains(Array(canary.prefix(4))) && arena.bytesInUse == 0)
        let refusal = failure { try key.use { (_) throws(CryptoError) in } }
        #expect(refusal == .keyUnavailable)
        key.revoke()
    }

    private struct Locked: Error {}

    @Test("L2: the caller's own error, of the body or for a revoked secret, comes through typed")
    func errors() throws {
        let key = RevocableSecret(try secret([1]))
        #expect(throws: CryptoError.invalidParameter) {
            try key.use { (_) throws(CryptoError) in throw CryptoError.invalidParameter }
        }
        key.revoke()
        #expect(throws: Locked.self) { try key.use(unavailable: Locked()) { (_) throws(Locked) in } }
    }

    @Test("L2: revoke waits for the current users, admits no new ones, and every caller returns after the wipe")
    func waiting() throws {
        let arena = SecretArena(capacity: 4096)
        let canary = [UInt8](100..<132)
        let key = RevocableSecret(try secret(canary, in: arena))
        let inside = DispatchSemaphore(value: 0)
        let leave = DispatchSemaphore(value: 0)
        let users = (0..<2).map { _ in
            Background {
                _ = try? key.use { (secret) throws(CryptoError) in
                    inside.signal()
                    leave.wait()
                    #expect(plain(secret) == canary)
                }
            }
        }
        for _ in users { inside.wait() }
        let revokers = (0..<2).map { _ in
            Background {
                key.revoke()
                #expect(!arena.contains(canary))
            }
        }
        #expect(!revokers[0].ends(within: 0.2) && !revokers[1].ends(within: 0.05))
        let refusal = failure { try key.use { (_) throws(CryptoError) in } }
        #expect(refusal == .keyUnavailable)
        #expect(arena.contains(canary))
        leave.signal()
        #expect(!revokers[0].ends(within: 0.1) && !revokers[1].ends(within: 0.05))
        leave.signal()
        for thread in users + revokers { #expect(thread.ends(within: 5)) }
    }

    @Test("L2: users and a revoker race: each use sees the whole secret or none")
    func race() throws {
        for round in 0..<50 {
            let bytes = [UInt8](repeating: UInt8(round + 1), count: 32)
            let key = RevocableSecret(try secret(bytes))
            let wrong = Atomic<Int>(0)
            DispatchQueue.concurrentPerform(iterations: 4) { thread in
                if thread == 3 { return key.revoke() }
                for _ in 0..<200 {
                    let isIntact = try? key.use { (secret) throws(CryptoError) in plain(secret) == bytes }
                    if isIntact == false { wrong.add(1, ordering: .relaxed) }
                }
            }
            #expect(wrong.load(ordering: .relaxed) == 0)
        }
    }
}
