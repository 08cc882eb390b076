import SecretCrypto
import SystemPackage

/// The channels of a process to a mount: few, used again, each by one caller at a time.
final class RPCChannelPool: Sendable {
    private struct State: Sendable {
        var idle: [RPCChannel] = []
        /// Of all whose threads have not ended, be they idle, in use or stuck.
        var count = 0

        /// The lane that was used last, or room for another one.
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

    /// `limit`: of channels, and so of threads and descriptors.
    init(limit: Int, mountPoint: @escaping @Sendable () -> String) {
        self.limit = limit
        self.mountPoint = mountPoint
    }

    /// Gives a job to a lane, which is the caller's from then on; nil, and the job stays, if none becomes free within
    /// `milliseconds`.
    ///
    /// Throws EAGAIN without a thread.
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

    /// A lane whose answer has been read to its end.
    func release(_ lane: RPCChannel) {
        lane.release()
        state.withLockAndSignal { $0.idle.append(lane) }
    }

    /// Lanes whose threads have not ended.
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
