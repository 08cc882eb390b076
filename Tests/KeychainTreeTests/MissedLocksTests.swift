import Keychain
import Testing

@testable import KeychainTree

/// The locks that a file has missed.
@Suite struct MissedLocksTests {
    @Test("L2: the classes of all missed locks are taken once, and one thread waits for the file")
    func classes() throws {
        let missed = MissedLocks()
        missed.note(ProtectionClasses { $0 == .whenUnlocked })
        let waits = [missed.await(), missed.await()]
        #expect(waits == [true, false])
        missed.note(ProtectionClasses { $0 == .whenPasscodeSetThisDeviceOnly })
        #expect(ProtectionClass.allCases.allSatisfy { $0.rawValue < 15 }, "the last bit is that of the thread")
        let isKept = !missed.isEmpty
        let (first, second) = (missed.take(), missed.take())
        let taken = ProtectionClass.allCases.filter { first?.contains($0) == true }
        #expect(isKept && taken == [.whenUnlocked, .whenPasscodeSetThisDeviceOnly] && second == nil)
    }

    @Test("L2: a lock that another thread has applied before one waits for the file is not applied again")
    func applied() {
        let missed = MissedLocks()
        missed.note(ProtectionClasses { $0 == .always })
        let (first, waits) = (missed.take(), missed.await())
        let second = missed.take()
        let isEmpty = missed.isEmpty
        #expect(first != nil && waits && second == nil && isEmpty)
    }
}
