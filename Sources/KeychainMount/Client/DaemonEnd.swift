import Foundation

/// The end of a daemon after its mount was removed.
struct DaemonEnd {
    private enum State {
        case running
        /// By SIGSTOP, or a debugger.
        case stopped
        /// The process has exited, but a thread waits in the kernel for a disk. The kernel keeps the process's files open.
        case exiting
        case ended
    }

    private let process: Int32

    init(of process: Int32) { self.process = process }

    /// The time in seconds that a daemon needs if a disk does not respond, and more than that.
    private static let limits = (usual: 6, longest: 15)

    /// Waits for the end of the process. If it only waits for a disk any more, this is shown.
    ///
    /// - Throws: `noAnswer` if the daemon still runs, or is stopped.
    func wait(unmounted mountPoint: String, _ showMessage: (String) -> Void) throws(CLIError) {
        let start = ContinuousClock.now
        while true {
            let state = state
            let limit = state == .running ? Self.limits.longest : Self.limits.usual
            if state == .ended { return }
            if ContinuousClock.now > start + .seconds(limit) { return try report(state, mountPoint, showMessage) }
            Thread.sleep(forTimeInterval: 0.01)
        }
    }

    private func report(_ state: State, _ mountPoint: String, _ showMessage: (String) -> Void) throws(CLIError) {
        let start = "\(mountPoint) is unmounted, but its daemon (process \(process))"
        switch state {
        case .ended: return
        case .exiting:
            showMessage(
                "\(start) waits for a disk in the kernel: the keychain can be mounted again when that responds.")
        case .stopped:
            throw CLIError(
                .noAnswer, "\(start) is stopped: it locks and ends when it continues ('kill -CONT \(process)').")
        case .running: throw CLIError(.noAnswer, "\(start) has not ended.")
        }
    }

    /// The state of the process in /proc (proc_pid_stat(5)).
    private var state: State {
        guard let line = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return .ended }
        let letter = line.split(separator: ")").last?.dropFirst().first
        switch letter {
        case "T", "t": return .stopped
        // Its first thread. The parent may not have waited for it.
        case "Z", "X": return threadCount > 1 ? .exiting : .ended
        default: return .running
        }
    }

    private var threadCount: Int {
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []).count
    }
}
