import LinuxSupport
import SecretCrypto
import SystemPackage

/// A descriptor of the mount's `rpc` file with its own thread, for one request at a time.
///
/// A read from a FUSE file blocks until the daemon replies or the process exits. Callers therefore wait for this
/// channel's thread with a timeout, and abandon the channel if the daemon does not respond. An idle channel closes its
/// descriptor after ``idleTime`` and its thread exits, because open files would block an unmount.
final class RPCChannel: Sendable {
    /// A job of the thread.
    enum Job: ~Copyable, Sendable {
        /// Sends a part of a request that continues.
        case send(SecretBytes)
        /// Sends the last part of a request and reads the beginning of the response.
        case ask(SecretBytes)
        /// Reads the next chunk of the response.
        case read
    }

    enum Outcome: ~Copyable, Sendable {
        case sent
        /// The bytes that were read; empty at the end.
        case piece(SecretBytes)
        case failed(Failure)
    }

    enum Failure: Error, Equatable {
        /// The request was not carried out.
        case notAsked(Errno)
        /// The request may have been carried out.
        case lost(Errno)
    }

    private struct State: ~Copyable, Sendable {
        var job: Job?
        var outcome: Outcome?
        /// Whether the thread has exited, or will when its system call returns.
        var isOver = false
        /// Whether the daemon has received a complete request.
        var isAsked = false
        /// The mount in which the file was opened last.
        var mount: MountIdentity?
        /// Whether a caller is in the middle of a request.
        var isInUse = true
    }

    /// Milliseconds.
    static let idleTime = 300
    static let firstPiece = 16 << 10
    static let nextPiece = 32 << 10

    private let state = Monitor(State())

    /// - Parameters:
    ///   - mountPoint: Called on the channel's thread when it opens the file.
    ///   - onEnd: Called on the channel's thread when it exits.
    /// - Throws: EAGAIN if the system cannot create a thread.
    init(mountPoint: @escaping @Sendable () -> String, onEnd: @escaping @Sendable (RPCChannel) -> Void) throws(Errno) {
        try BackgroundThread.start { [self] in
            work(mountPoint)
            onEnd(self)
        }
    }

    // MARK: Calling threads

    /// Takes the job. Returns false, and leaves it to the caller, if the channel has ended.
    func submit(_ job: inout Job?) -> Bool {
        state.withLockAndSignal { state in
            guard !state.isOver else { return false }
            state.job = job.take()
            state.isInUse = true
            return true
        }
    }

    /// Waits for the outcome of the submitted job. Returns nil after `milliseconds`.
    func outcome(within milliseconds: Int) -> Outcome? {
        _ = state.wait(milliseconds: milliseconds) { $0.outcome == nil ? nil : true }
        return state.withLock { $0.outcome.take() }
    }

    /// Returns whether the channel waits for another mount than the one now at `mountPoint`. The daemon that responds
    /// there has not received the request.
    func isElsewhere(than mountPoint: String) -> Bool {
        guard let mount = state.withLock({ $0.mount }) else { return false }
        return mount != MountIdentity(at: mountPoint)
    }

    /// Ends the request and makes the channel idle.
    func release() {
        state.withLock { state in (state.isInUse, state.isAsked) = (false, false) }
    }

    /// Abandons the channel: its result is wiped and its thread exits. Returns whether the request may have been carried out. A
    /// request that the daemon has not received completely is never carried out.
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

    /// Waits for the next job; nil if the channel must end.
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

    /// Returns whether a caller still waits. The daemon carries out a request when its response is read.
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
