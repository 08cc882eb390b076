import FileSystemCore

/// A list of notifications with ``Notification/later(_:)``: how long its sender waits.
struct LaterNotifications: Sendable {
    /// Sends with the output of a running session. Has no effect after its end.
    typealias Output = @Sendable ((NotificationOutput) -> Void) -> Void

    /// The limits in milliseconds for notifications that wait in the kernel, and for those that come later.
    static let limits = (waiting: 2000, later: 20)

    private let immediate: [FileSystemCore.Notification]
    /// Notifications for which the kernel waits for operations in progress.
    private let waiting: [FileSystemCore.Notification]
    private let later: [@Sendable () -> [FileSystemCore.Notification]]
    private let kernelMinor: UInt32

    init(_ notifications: [FileSystemCore.Notification], kernelMinor: UInt32) {
        self.kernelMinor = kernelMinor
        later = notifications.compactMap { if case .later(let body) = $0 { body } else { nil } }
        let mayWait = { NotificationSender.mayWait($0, kernelMinor: kernelMinor) }
        immediate = notifications.filter { !mayWait($0) }
        waiting = notifications.filter(mayWait)
    }

    private struct Progress {
        /// Released when they have been sent, because they contain names.
        var waiting: [FileSystemCore.Notification]
        var isSent = false
        var isComplete = false
    }

    /// Sends the list. Returns when all has been sent, or after the limits.
    func send(_ output: @escaping Output) {
        Self.send(immediate, kernelMinor, output)
        let progress = Monitor(Progress(waiting: waiting))
        // Not `self`, which contains names: the thread may wait for a disk.
        Notifier.onThread { [later, kernelMinor] in
            Self.sendWaiting(progress, kernelMinor, output)
            for body in later { Self.send(body(), kernelMinor, output) }
            progress.with(wakesAll: true) { $0.isComplete = true }
            ProcessMemory.wipeStack()
        }
        progress.wait(milliseconds: Self.limits.waiting) { $0.isSent ? () : nil }
        progress.wait(milliseconds: Self.limits.later) { $0.isComplete ? () : nil }
    }

    private static func sendWaiting(_ progress: Monitor<Progress>, _ kernelMinor: UInt32, _ output: Output) {
        let notifications = progress.with { progress in
            defer { progress.waiting = [] }
            return progress.waiting
        }
        send(notifications, kernelMinor, output)
        progress.with(wakesAll: true) { $0.isSent = true }
    }

    private static func send(
        _ notifications: [FileSystemCore.Notification], _ kernelMinor: UInt32, _ output: Output
    ) {
        output { $0.send(notifications, kernelMinor: kernelMinor) }
    }
}
