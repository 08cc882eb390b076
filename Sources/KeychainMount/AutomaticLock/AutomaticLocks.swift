import KeychainTree
import Logging
import Synchronization
import SystemPackage
import SystemServices

/// All that locks a mount without a command.
final class AutomaticLocks: Sendable {
    private let policy: LockPolicy
    private let log: Logger
    private let timer = Mutex<AutomaticLock?>(nil)

    init(_ policy: LockPolicy, log: Logger) {
        self.policy = policy
        self.log = log
    }

    /// From now on `lock` is called when the policy says so, on a thread that serves no request.
    func start(_ tree: KeychainTree, lock: @escaping @Sendable () -> Void) throws(Errno) {
        guard policy.hasTimes else { return }
        let new = try AutomaticLock(policy, of: tree.keychain, lastUse: { tree.lastUse }) { [log] reason in
            lock()
            log.notice("locked by itself", metadata: ["reason": "\(reason.rawValue)"])
        }
        timer.withLock { $0 = new }
        new.start()
    }

    /// Before the keychain is closed.
    func end() { timer.withLock { $0 }?.end() }

    var status: AutomaticLockStatus {
        let deadline = timer.withLock { $0 }?.deadline
        return AutomaticLockStatus(policy, remaining: deadline.map { $0.moment - Alarm.now })
    }
}
