import Fuse
import Glibc
import Keychain
import LinuxSupport
import Logging
import SecretCrypto
import SystemPackage

/// The end of a process whose keychain cannot be closed, because a disk does not respond.
struct ClosingLimit {
    /// The time in milliseconds from the end of the session to that of the process.
    private static let limit = SessionEnd.threadLimit + 500
    /// The time in milliseconds for wiping the keys.
    private static let wipeLimit = 300

    private let keys: KeyRing
    private let log: Logger

    init(_ keys: KeyRing, log: Logger) {
        self.keys = keys
        self.log = log
    }

    /// Ends the process at the limit, unless it has ended before. No change that was reported as done is lost: the log of the store
    /// has it.
    func start(at end: SessionEnd) {
        let limit = self
        do throws(Errno) {
            try BackgroundThread.start(stack: .large) {
                usleep(UInt32(end.millisecondsLeft(of: Self.limit)) * 1000)
                limit.endProcess()
            }
        } catch {
            log.notice("closing the keychain has no time limit", metadata: ["errno": "\(error.rawValue)"])
        }
    }

    /// Wipes the keys and ends the process without closing the keychain. Threads that the kernel cannot interrupt keep the process,
    /// and its lock on the store, until the disk responds.
    func endProcess() -> Never {
        log.notice("a disk does not respond: the daemon ends without closing the keychain")
        let isWiped = Monitor(false)
        let keys = keys
        try? BackgroundThread.start(stack: .large) {
            keys.wipe()
            isWiped.withLockAndSignal { $0 = true }
        }
        _ = isWiped.wait(milliseconds: Self.wipeLimit) { $0 ? true : nil }
        _exit(0)
    }
}
