import SecretCrypto
import SystemPackage

/// The lanes of a process to a mount: few, used again, each by one caller at a time.
final class LanePool: Sendable {
    private struct State: Sendable {
        var idle: [Lane] = []
        /// Of all whose threads have not ended, be they idle, in use or stuck.
        var count = 0

        /// The lane that was used last, or room for another one.
        mutating func place(limit: Int) -> Place? {
            if let lane = idle.popLast() { return .idle(lane) }
            guard count < limit else { return nil }
            count += 1
            return .new
        }
    }

    private enum Place {
        case idle(Lane), new
    }

    private let limit: Int
    private let mountPoint: @Sendable () -> String
    private let state = Monitor(State())

    /// `limit`: of lanes, and so of threads and descriptors.
    init(limit: Int, mountPoint: @escaping @Sendable () -> String) {
        self.limit = limit
        self.mountPoint = mountPoint
    }

    /// Gives a job to a lane, which is the caller's from then on; nil, and the job stays, if none becomes free within
    /// `milliseconds`.
    ///
    /// Throws EAGAIN without a thread.
    func start(_ job: inout Lane.Job?, within milliseconds: Int) throws(Errno) -> Lane? {
        while true {
            switch state.wait(milliseconds: milliseconds, until: { $0.place(limit: limit) }) {
            case nil: return nil
            case .idle(let lane):
                if lane.give(&job) { return lane }
            case .new:
                let lane = try newLane()
                if lane.give(&job) { return lane }
            }
        }
    }

    /// A lane whose answer has been read to its end.
    func giveBack(_ lane: Lane) {
        lane.release()
        state.withLockAndSignal { $0.idle.append(lane) }
    }

    /// Lanes whose threads have not ended.
    var count: Int { state.withLock { $0.count } }

    private func newLane() throws(Errno) -> Lane {
        do throws(Errno) {
            return try Lane(mountPoint: mountPoint) { [self] in ended($0) }
        } catch {
            state.withLockAndSignal { $0.count -= 1 }
            throw error
        }
    }

    private func ended(_ lane: Lane) {
        state.withLockAndSignal { state in
            state.idle.removeAll { $0 === lane }
            state.count -= 1
        }
    }
}
