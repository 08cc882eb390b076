import Foundation
import Keychain
import KeychainTesting
import LinuxSupport
import SecretCrypto
import Synchronization
import Testing

@testable import KeychainMount

@Suite("locking by the clock")
struct LockPolicyTests {
    @Test(
        "L4: durations as people write them",
        arguments: [
            ("90s", 90), ("15m", 900), ("8h", 28_800), ("1h30m", 5_400), ("2d", 172_800), ("1d1h1m1s", 90_061),
            ("007m", 420), ("0h5s", 5), ("2147483647s", 2_147_483_647),
        ])
    func durations(_ text: String, _ seconds: Int) {
        #expect(DurationText.parse(text) == .seconds(seconds))
        #expect(DurationText.parse(DurationText.text(.seconds(seconds))) == .seconds(seconds))
    }

    @Test(
        "L4: an invalid duration is refused",
        arguments: [
            "", "0", "0s", "0h0m", "15", "m", "-5m", "+5m", "1.5h", "5 m", " 5m", "5m ", "5M", "5w", "30m1h", "5m5m",
            "2147483648s", "24856d", "99999999999999999999s", "9223372036854775807d", "1h30", "١m", "5m\n", "never",
        ])
    func noDurations(_ text: String) {
        #expect(DurationText.parse(text) == nil)
        for option in ["lock_after", "lock_at_most"] {
            #expect {
                _ = try MountOptionList(["\(option)=\(text.replacing(",", with: "\\,"))"])
            } throws: { ($0 as? CLIError)?.exitCode == .usage && ($0 as? CLIError)?.message.contains(option) == true }
        }
    }

    @Test("L4: the shortest text; less than a second is 0s")
    func text() {
        #expect(DurationText.text(.seconds(5_400)) == "1h30m")
        #expect(DurationText.text(.seconds(86_401)) == "1d1s")
        #expect(DurationText.text(.milliseconds(10)) == "0s")
        #expect(DurationText.text(.seconds(-3)) == "0s")
    }

    @Test("H3: a comma ends an option even if a combining character follows; written options are parsed back unchanged")
    func optionsOfAnyText() throws {
        let list = try MountOptionList(["fsname=x\u{600},ro,lock_after=1h"])
        #expect(list.isReadOnly && list.source == "x\u{600}" && list.lockPolicy.afterUse == .seconds(3600))
        let marked = try MountOptionList(["fsname=\u{301}a\\,\u{301},ro"])
        #expect(marked.source == "\u{301}a,\u{301}")
        for list in [list, marked] {
            #expect(try MountOptionList(Array(list.arguments.dropFirst())).source == list.source)
        }
    }

    @Test("L4: the process in the background gets the same policy; the last one given holds")
    func options() throws {
        let list = try MountOptionList(["lock_after=1h,ro", "lock_after=15m", "lock_at_most=90m"])
        #expect(list.lockPolicy == LockPolicy(afterUse: .seconds(900), atMost: .seconds(5_400)))
        let again = try MountOptionList(Array(list.arguments.dropFirst()))
        #expect(again.lockPolicy == list.lockPolicy && again.isReadOnly)
        #expect(try !MountOptionList(["ro"]).lockPolicy.hasTimes)
        #expect(throws: CLIError.self) { try MountOptionList(["lock_after"]) }
    }

    @Test("L4: a fake clock: after the last use, after the unlock, whichever is first")
    func deadlines() throws {
        let day = Duration.seconds(86_400)
        let idle = LockPolicy(afterUse: .seconds(900))
        #expect(LockPolicy().deadline(unlocked: day, lastUse: .zero) == nil)
        // A use before the unlock does not count, one after it does.
        var due = try #require(idle.deadline(unlocked: day, lastUse: .seconds(5)))
        #expect(due.moment == day + .seconds(900) && due.reason == .unused)
        due = try #require(idle.deadline(unlocked: day, lastUse: day + .seconds(60)))
        #expect(due.moment == day + .seconds(960))
        let both = LockPolicy(afterUse: .seconds(900), atMost: .seconds(1_000))
        due = try #require(both.deadline(unlocked: day, lastUse: day + .seconds(99)))
        #expect(due.moment == day + .seconds(999) && due.reason == .unused)
        due = try #require(both.deadline(unlocked: day, lastUse: day + .seconds(101)))
        #expect(due.moment == day + .seconds(1_000) && due.reason == .age)
    }

    @Test("L4: the alarm wakes at its time or when it is rung, and not before")
    func alarm() throws {
        let alarm = try WakeupTimer()
        let start = WakeupTimer.now
        alarm.wait(until: start + .milliseconds(200))
        let waited = WakeupTimer.now - start
        #expect(waited >= .milliseconds(200) && waited < .seconds(20))
        alarm.wake()
        alarm.wait(until: nil)
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: 0.1)
            alarm.wake()
        }
        alarm.wait(until: nil)
        // A time in the past, even before the machine's start.
        alarm.wait(until: start)
        alarm.wait(until: .seconds(-1))
        #expect(WakeupTimer.now - start >= .milliseconds(300))
    }

    // MARK: The thread

    /// The events of a keychain with their times.
    private final class EventLog: Sendable {
        let lastUse = Mutex(Duration.zero)
        let locks = Mutex<[(reason: LockPolicy.Reason, moment: Duration)]>([])

        func use() { lastUse.withLock { $0 = WakeupTimer.now } }

        /// Returns false if fewer locks occur within 20 s.
        func wait(forLocks count: Int) -> Bool {
            for _ in 0..<2_000 where locks.withLock({ $0.count }) < count { Thread.sleep(forTimeInterval: 0.01) }
            return locks.withLock { $0.count } == count
        }
    }

    /// Creates an unlocked keychain with automatic locks.
    private func guarded(by policy: LockPolicy) throws -> (KeychainStore, EventLog, AutomaticLock) {
        let store = InMemoryRecordStore()
        let device = Array(repeating: UInt8(1), count: 32)
        try KeyRing.create(
            in: store, passphrase: try SecretBytes(text: "p"), cost: .cheap,
            device: try SecretBytes(copying: device.rawSpan))
        let keys = try KeyRing(store: store, device: try SecretBytes(copying: device.rawSpan))
        let keychain = KeychainStore(store: store, keys: keys) { KeychainDate(seconds: 0) }
        try unlock(keychain)
        let journal = EventLog()
        let automatic = try AutomaticLock(policy, of: keychain, lastUse: { journal.lastUse.withLock { $0 } }) {
            reason in
            keychain.lock()
            journal.locks.withLock { $0.append((reason, WakeupTimer.now)) }
        }
        try automatic.start()
        return (keychain, journal, automatic)
    }

    private func unlock(_ keychain: KeychainStore) throws {
        try keychain.keys.unlock(passphrase: try SecretBytes(text: "p"))
    }

    @Test("L4: the keychain locks after the idle time, not while it is in use; and again after the next unlock")
    func unused() throws {
        let (keychain, journal, automatic) = try guarded(by: LockPolicy(afterUse: .milliseconds(400)))
        defer { automatic.end() }
        for _ in 0..<20 {
            journal.use()
            Thread.sleep(forTimeInterval: 0.05)
        }
        #expect(keychain.keys.state == .unlocked && automatic.deadline != nil)
        let lastUse = journal.lastUse.withLock { $0 }
        #expect(journal.wait(forLocks: 1))
        let first = try #require(journal.locks.withLock { $0.first })
        #expect(first.moment - lastUse >= .milliseconds(400) && first.reason == .unused)
        #expect(keychain.keys.state == .locked && automatic.deadline == nil)
        Thread.sleep(forTimeInterval: 0.5)
        #expect(journal.wait(forLocks: 1))
        try unlock(keychain)
        #expect(journal.wait(forLocks: 2))
    }

    @Test("L4: the keychain locks a fixed time after the unlock, in use or not; another unlock restarts the time")
    func age() throws {
        let (keychain, journal, automatic) = try guarded(
            by: LockPolicy(afterUse: .seconds(3_600), atMost: .milliseconds(500)))
        defer { automatic.end() }
        Thread.sleep(forTimeInterval: 0.2)
        let again = WakeupTimer.now
        try unlock(keychain)
        while !journal.locks.withLock({ !$0.isEmpty }), WakeupTimer.now - again < .seconds(20) {
            journal.use()
            Thread.sleep(forTimeInterval: 0.02)
        }
        let first = try #require(journal.locks.withLock { $0.first })
        #expect(first.moment - again >= .milliseconds(500) && first.reason == .age)
    }

    @Test("L4: after its end nothing is locked")
    func end() throws {
        let (keychain, _, automatic) = try guarded(by: LockPolicy(afterUse: .milliseconds(300)))
        automatic.end()
        Thread.sleep(forTimeInterval: 0.6)
        #expect(keychain.keys.state == .unlocked)
    }
}
