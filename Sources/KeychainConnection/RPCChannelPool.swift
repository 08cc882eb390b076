import SecretCrypto
import SystemPackage

/// A bounded pool of channels from a process to a mount. One caller uses a channel at a time.
final class RPCChannelPool: Sendable {
    private struct State: Sendable {
        var idle: [RPCChannel] = []
        /// The number of channels whose threads have not exited: idle, in use or blocked.
        var count = 0

        /// Returns the channel used last, or the permission to create one.
        mutating func acquire(limit: Int) -> Lease? {
            if let lane = idle.popLast() { return .idle(lane) }
            guard count < limit else { return nil }
            count += 1
            return .new
        }
    }

    private enum Lease {
        case idle(RPCChannel), new
    }

    private let limit: Int
    private let mountPoint: @Sendable () -> String
    private let state = Monitor(State())

    /// - Parameter limit: The maximum number of channels, and therefore of threads and descriptors.
    init(limit: Int, mountPoint: @escaping @Sendable () -> String) {
        self.limit = limit
        self.mountPoint = mountPoint
    }

    /// Submits a job to a channel, which the caller then holds. Returns nil, and leaves the job, if no channel becomes
    /// free within `milliseconds`.
    ///
    /// - Throws: EAGAIN if the system cannot create a thread.
    func start(_ job: inout RPCChannel.Job?, within milliseconds: Int) throws(Errno) -> RPCChannel? {
        while true {
            switch state.wait(milliseconds: milliseconds, until: { $0.acquire(limit: limit) }) {
            case nil: return nil
            case .idle(let lane):
                if lane.submit(&job) { return lane }
            case .new:
                let lane = try newLane()
                if lane.submit(&job) { return lane }
            }
        }
    }

    /// Releases a channel whose response has been read completely.
    func release(_ lane: RPCChannel) {
        lane.release()
        state.withLockAndSignal { $0.idle.append(lane) }
    }

    /// The number of channels whose threads have not exited.
    var count: Int { state.withLock { $0.count } }

    private func newLane() throws(Errno) -> RPCChannel {
        do throws(Errno) {
            return try RPCChannel(mountPoint: mountPoint) { [self] in ended($0) }
        } catch {
            state.withLockAndSignal { $0.count -= 1 }
            throw error
        }
    }

    private func ended(_ lane: RPCChannel) {
        state.withLockAndSignal { state in
            state.idle.removeAll { $0 === lane }
            state.count -= 1
        }
    }
}
