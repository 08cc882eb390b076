import LinuxSupport
import SecretCrypto
import SystemPackage

/// A descriptor of the mount's `rpc` file, and the thread that waits on it, one request at a time.
///
/// A wait for a FUSE daemon ends when the daemon answers, or the process ends, and not before: so whoever asks does not wait
/// there but here, with a bound, and leaves a lane behind that does not answer. One that nobody uses for a moment closes its
/// descriptor and ends, since open files keep a mount from being unmounted.
final class RPCChannel: Sendable {
    /// What the thread has to do.
    enum Job: ~Copyable, Sendable {
        /// A part of a request, which goes on.
        case send(SecretBytes)
        /// The last part of a request; the answer's beginning is the outcome.
        case ask(SecretBytes)
        /// The answer's next piece is the outcome.
        case read
    }

    enum Outcome: ~Copyable, Sendable {
        case sent
        /// Empty at the end of what there is to read.
        case piece(SecretBytes)
        case failed(Failure)
    }

    enum Failure: Error, Equatable {
        /// Nothing was carried out.
        case notAsked(Errno)
        /// The request may have been carried out.
        case lost(Errno)
    }

    private struct State: ~Copyable, Sendable {
        var job: Job?
        var outcome: Outcome?
        /// The thread has ended, or will when its system call returns.
        var isOver = false
        /// A whole request is with the daemon.
        var isAsked = false
        /// Where its file was opened last.
        var mount: MountIdentity?
        /// Somebody is in the middle of a request, however slow.
        var isInUse = true
    }

    /// In milliseconds.
    static let idleTime = 300
    static let firstPiece = 16 << 10
    static let nextPiece = 32 << 10

    private let state = Monitor(State())

    /// - Parameters:
    ///   - mountPoint: called on the lane's thread when it opens the file.
    ///   - onEnd: called there when it ends.
    /// - Throws: EAGAIN without a thread.
    init(mountPoint: @escaping @Sendable () -> String, onEnd: @escaping @Sendable (RPCChannel) -> Void) throws(Errno) {
        try BackgroundThread.start { [self] in
            work(mountPoint)
            onEnd(self)
        }
    }

    // MARK: Who asks

    /// Takes the job; false, and it is the caller's still, if the lane has ended.
    func submit(_ job: inout Job?) -> Bool {
        state.withLockAndSignal { state in
            guard !state.isOver else { return false }
            state.job = job.take()
            state.isInUse = true
            return true
        }
    }

    /// Waits for the outcome of the job that was given; nil after `milliseconds`.
    func outcome(within milliseconds: Int) -> Outcome? {
        _ = state.wait(milliseconds: milliseconds) { $0.outcome == nil ? nil : true }
        return state.withLock { $0.outcome.take() }
    }

    /// Whether it waits in another mount than that which is at `mountPoint` now: the one that answers there is not the one
    /// that it has asked.
    func isElsewhere(than mountPoint: String) -> Bool {
        guard let mount = state.withLock({ $0.mount }) else { return false }
        return mount != MountIdentity(at: mountPoint)
    }

    /// The request is done.
    func release() {
        state.withLock { state in (state.isInUse, state.isAsked) = (false, false) }
    }

    /// Nobody waits for it any more: what it gets is wiped, and it ends. What has become of the request so far: if the
    /// daemon has not got all of it, it never will.
    @discardableResult func abandon() -> Failure {
        state.withLockAndSignal { state in
            state.isOver = true
            return state.isAsked ? .lost(.timedOut) : .notAsked(.timedOut)
        }
    }

    // MARK: Its thread

    private func work(_ mountPoint: @escaping @Sendable () -> String) {
        var file = RPCFile(mountPoint: mountPoint) { [state] mount in state.withLock { $0.mount = mount } }
        while let job = nextJob() {
            var outcome: Outcome? = run(job, &file)
            state.withLockAndSignal { $0.outcome = outcome.take() }
        }
    }

    /// Nil when the lane is to end.
    private func nextJob() -> Job? {
        while true {
            _ = state.wait(milliseconds: Self.idleTime) { $0.job == nil && !$0.isOver ? nil : true }
            let isOver = state.withLock { state in
                if state.job == nil, !state.isInUse { state.isOver = true }
                return state.isOver
            }
            if isOver { return nil }
            if let job = state.withLock({ $0.job.take() }) { return job }
        }
    }

    private func run(_ job: consuming Job, _ file: inout RPCFile) -> Outcome {
        do throws(Failure) {
            switch consume job {
            case .send(let part):
                try Self.beforeAsking { () throws(Errno) in try file.send(part) }
                return .sent
            case .ask(let part):
                try Self.beforeAsking { () throws(Errno) in try file.send(part) }
                guard mayAsk() else { throw .notAsked(.timedOut) }
                return .piece(try Self.afterAsking { () throws(Errno) in try file.read(limit: Self.firstPiece) })
            case .read:
                return .piece(try Self.afterAsking { () throws(Errno) in try file.read(limit: Self.nextPiece) })
            }
        } catch {
            file.close()
            return .failed(error)
        }
    }

    /// Whether somebody still waits for the answer: the request is carried out when that is read.
    private func mayAsk() -> Bool {
        state.withLock { state in
            state.isAsked = !state.isOver
            return state.isAsked
        }
    }

    private static func beforeAsking(_ body: () throws(Errno) -> Void) throws(Failure) {
        do { try body() } catch { throw .notAsked(error) }
    }

    private static func afterAsking(_ body: () throws(Errno) -> SecretBytes) throws(Failure) -> SecretBytes {
        do { return try body() } catch { throw .lost(error) }
    }
}
