import LinuxSupport
import SecretCrypto
import SystemPackage

/// Whether the daemon of a mount answers: asked by reading its status on a thread of its own, one for all who want to know.
final class DaemonProbe: Sendable {
    private struct State: Sendable {
        var isAsking = false
        /// Whether somebody has waited in vain for the answer that is still due.
        var isSilent = false
        /// The mount whose daemon was asked last.
        var asked: MountIdentity?
        /// How often there was an answer.
        var replies = 0
    }

    /// In milliseconds: longer than this a daemon that can answer does not take to tell its status.
    private let timeout: Int
    private let mountPoint: @Sendable () -> String
    private let state = Monitor(State())

    init(mountPoint: @escaping @Sendable () -> String, timeout: Int) {
        self.mountPoint = mountPoint
        self.timeout = timeout
    }

    /// Known to be silent: told without waiting, until the answer comes after all.
    var isSilent: Bool { state.withLock { $0.isSilent } }

    /// Whether another mount is in the place of the one that is silent.
    var isOfAnotherMount: Bool {
        guard let asked = state.withLock({ $0.isSilent ? $0.asked : nil }) else { return false }
        return asked != MountIdentity(at: mountPoint())
    }

    /// Whether it answers now, be it with a refusal.
    func daemonResponds() -> Bool {
        let (mustAsk, before) = state.withLock { state in
            defer { state.isAsking = true }
            return (!state.isAsking, state.replies)
        }
        if mustAsk {
            let mount = MountIdentity(at: mountPoint())
            state.withLock { $0.asked = mount }
            // Without a thread to ask there is no answer.
            guard (try? BackgroundThread.start { [self] in ask() }) != nil else {
                state.withLock { $0.isAsking = false }
                return false
            }
        }
        if state.wait(milliseconds: timeout, until: { $0.replies != before ? true : nil }) == true { return true }
        state.withLock { $0.isSilent = $0.replies == before }
        return false
    }

    private func ask() {
        if let status = try? OpenControlFile("status", at: mountPoint(), .readOnly, of: .anyone) {
            _ = try? status.read(limit: 64)
        }
        state.withLockAndSignal { state in
            (state.isAsking, state.isSilent) = (false, false)
            state.replies += 1
        }
    }
}
