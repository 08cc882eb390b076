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

    private enum Progress { case none, sent, complete }

    /// Sends the list. Returns when all has been sent, or after the limits.
    func send(_ output: @escaping Output) {
        let progress = Monitor(Progress.none)
        Notifier.onThread {
            output { $0.send(waiting, kernelMinor: kernelMinor) }
            progress.with(wakesAll: true) { $0 = .sent }
            for body in later {
                let notifications = body()
                output { $0.send(notifications, kernelMinor: kernelMinor) }
            }
            progress.with(wakesAll: true) { $0 = .complete }
            ProcessMemory.wipeStack()
        }
        output { $0.send(immediate, kernelMinor: kernelMinor) }
        progress.wait(milliseconds: Self.limits.waiting) { $0 == .none ? nil : () }
        progress.wait(milliseconds: Self.limits.later) { $0 == .complete ? () : nil }
    }
}
