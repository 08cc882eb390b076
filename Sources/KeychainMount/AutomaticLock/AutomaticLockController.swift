import KeychainTree
import LinuxSupport
import Logging
import Synchronization
import SystemPackage

/// The automatic locks of a mount.
final class AutomaticLockController: Sendable {
    private struct Parts {
        var timer: AutomaticLock?
        var login: LoginMonitor?
        var connection: LoginConnection?
    }

    private let policy: LockPolicy
    private let log: Logger
    private let parts = Mutex(Parts())

    init(_ policy: LockPolicy, log: Logger) {
        self.policy = policy
        self.log = log
    }

    /// Starts to call `lock` according to the policy, on a thread that serves no request.
    func start(_ tree: KeychainFileSystem, lock: @escaping @Sendable () -> Void) throws(Errno) {
        let lockFor: @Sendable (LockPolicy.Reason) -> Void = { [log] reason in
            lock()
            log.notice("locked by itself", metadata: ["reason": "\(reason.rawValue)"])
        }
        if policy.hasTimes {
            let timer = try AutomaticLock(policy, of: tree.keychain, lastUse: { tree.lastUse }, lock: lockFor)
            parts.withLock { $0.timer = timer }
            try timer.start()
        }
        if !policy.events.isEmpty { try startLogin(lockFor) }
    }

    /// Ends the automatic locks, before the keychain is closed.
    func end() {
        parts.withLock { $0.timer }?.end()
        parts.withLock { $0.login }?.end()
    }

    var status: AutomaticLockStatus {
        let (deadline, connection) = parts.withLock { ($0.timer?.deadline, $0.connection) }
        return AutomaticLockStatus(
            policy, remaining: deadline.map { $0.moment - WakeupTimer.now }, connection: connection)
    }

    private func startLogin(_ lock: @escaping @Sendable (LockPolicy.Reason) -> Void) throws(Errno) {
        let login = try LoginMonitor(policy.events, purpose: "The keychain is being locked") { event in
            lock(LockPolicy.Reason(event))
        } onConnection: { [self] connection in
            parts.withLock { $0.connection = connection }
            update(connection)
        }
        parts.withLock { $0.login = login }
        try BackgroundThread.start(stack: .large) { login.run() }
    }

    private func update(_ connection: LoginConnection) {
        switch connection {
        case .connected: log.info("the login manager says when to lock")
        case .withoutDelay(let reason):
            log.warning(
                "the login manager refuses to delay a suspend: the lock may come after it",
                metadata: ["reason": "\(reason)"])
        case .unreachable(let reason):
            log.warning(
                "the login manager cannot be reached: no lock on suspend or screen lock until it can",
                metadata: ["reason": "\(reason)"])
        }
    }
}
