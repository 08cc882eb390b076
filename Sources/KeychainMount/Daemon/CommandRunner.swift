import FileSystemCore
import Fuse
import KeychainTree
import LinuxSupport
import SystemPackage

/// Runs commands of control files on separate threads, for mounts whose kernel aborts late replies.
struct CommandRunner: CommandThreads {
    /// The session's notifier; nil before it starts and after it has ended.
    let notifier: @Sendable () -> (any KernelNotifier)?

    func start(_ body: @escaping @Sendable () -> Void) throws(Errno) {
        try BackgroundThread.start(stack: .large, body)
    }

    /// Passphrases and keys have been on the stack, which the C library reuses for another thread.
    func finish(_ notifications: [FileSystemCore.Notification]) {
        ProcessMemory.wipeStack()
        notifier()?.send(notifications)
    }
}
