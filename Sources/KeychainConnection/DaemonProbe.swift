import LinuxSupport
import SecretCrypto
import SystemPackage

/// Determines whether the daemon of a mount responds. A separate thread reads its status, one thread for all callers.
final class DaemonProbe: Sendable {
    private struct State: Sendable {
        var isAsking = false
        /// Whether a caller has waited in vain for a reply that is still pending.
        var isSilent = false
        /// The mount whose daemon was probed last.
        var asked: MountIdentity?
        /// The number of replies.
        var replies = 0
    }

    /// The timeout in milliseconds. A daemon that can respond returns its status faster.
    private let timeout: Int
    private let mountPoint: @Sendable () -> String
    private let state = Monitor(State())

    init(mountPoint: @escaping @Sendable () -> String, timeout: Int) {
        self.mountPoint = mountPoint
        self.timeout = timeout
    }

    /// Whether the daemon is known not to respond. Does not block; false again after a late reply.
    var isSilent: Bool { state.withLock { $0.isSilent } }

    /// Whether another mount has replaced the silent one.
    var isOfAnotherMount: Bool {
        guard let asked = state.withLock({ $0.isSilent ? $0.asked : nil }) else { return false }
        return asked != MountIdentity(at: mountPoint())
    }

    /// Returns whether the daemon responds now. A refusal is a response.
    func daemonResponds() -> Bool {
        let (mustAsk, before) = state.withLock { state in
            defer { state.isAsking = true }
            return (!state.isAsking, state.replies)
        }
        if mustAsk {
            let mount = MountIdentity(at: mountPoint())
            state.withLock { $0.asked = mount }
            // Without a thread the probe is not possible, which counts as no response.
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
