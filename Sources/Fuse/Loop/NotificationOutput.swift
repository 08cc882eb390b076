import FileSystemCore

/// Carries notifications out, on any thread.
struct NotificationOutput: Sendable {
    let sender: NotificationSender
    /// The effect of ``Notification/wipeStacks``.
    let wipeStacks: @Sendable () -> Void

    /// - Parameter kernelMinor: 0 before INIT, when the kernel cannot have cached anything.
    func send(_ notifications: [FileSystemCore.Notification], kernelMinor: UInt32) {
        if kernelMinor != 0 { sender.send(notifications, kernelMinor: kernelMinor) }
        if notifications.contains(where: { if case .wipeStacks = $0 { true } else { false } }) { wipeStacks() }
    }
}
