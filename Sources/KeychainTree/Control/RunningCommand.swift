package import FileSystemCore
import Keychain
import SecretCrypto
package import SystemPackage

/// The time after which the write of a command to a control file returns, and the threads on which the command then
/// continues. The kernel can be configured to abort the connection if a request has no reply in time, and a command may
/// take minutes.
package struct CommandLimit: Sendable {
    /// The time in milliseconds.
    let longestWait: Int
    let threads: any CommandThreads

    package init(longestWait: Int, threads: any CommandThreads) {
        self.longestWait = longestWait
        self.threads = threads
    }
}

/// The threads of commands.
package protocol CommandThreads: Sendable {
    /// Runs `body` on another thread.
    ///
    /// - Throws: EAGAIN if the system cannot create one.
    func start(_ body: @escaping @Sendable () -> Void) throws(Errno)
    /// Called on that thread between the end of a command and its result: wipes its stack, sends the notifications to
    /// the kernel, and returns when they have been sent.
    func finish(_ notifications: [Notification])
}

/// A command that runs on a separate thread.
final class RunningCommand: Sendable {
    typealias Result = Swift.Result<[UInt8], KeychainFault>

    private let result = Monitor<Result?>(nil)

    /// Starts a command, whose notifications are sent before its result is available.
    ///
    /// - Throws: EAGAIN without a thread.
    init(
        _ limit: CommandLimit, _ body: @escaping @Sendable () -> (Result, [Notification])
    ) throws(Errno) {
        try limit.threads.start { [result] in
            let (found, notifications) = body()
            limit.threads.finish(notifications)
            result.withLockAndSignal { $0 = found }
        }
    }

    /// Returns the result, or nil if the command has not ended within `milliseconds`.
    func wait(milliseconds: Int) -> Result? { result.wait(milliseconds: milliseconds) { $0 } }
}

/// A command of a control file that can pass between threads.
enum ControlCommand: Sendable {
    /// Needs no locked memory, because it must work when all of it is in use.
    case lock
    case other(CommandText)

    /// Copies the text of a command.
    ///
    /// - Throws: ENOMEM without locked memory.
    init(_ data: RawSpan) throws(Errno) {
        do throws(CryptoError) {
            self = .other(CommandText(try SecretBytes(copying: data)))
        } catch {
            throw KeychainFault(error).errno
        }
    }

    func run(
        by commands: any ControlCommandHandler, on tree: KeychainFileSystem, _ request: inout Request
    ) throws(KeychainFault) -> [UInt8] {
        switch self {
        case .lock: try commands.run(Array("lock".utf8).rawSpan, on: tree, request: &request)
        case .other(let text): try text.run(by: commands, on: tree, &request)
        }
    }
}

/// The text of a command, with its secrets.
final class CommandText: Sendable {
    private let bytes: SecretBytes

    fileprivate init(_ bytes: consuming SecretBytes) { self.bytes = bytes }

    fileprivate func run(
        by commands: any ControlCommandHandler, on tree: KeychainFileSystem, _ request: inout Request
    ) throws(KeychainFault) -> [UInt8] {
        try Self.run(bytes, by: commands, on: tree, &request)
    }

    private static func run(
        _ bytes: borrowing SecretBytes, by commands: any ControlCommandHandler, on tree: KeychainFileSystem,
        _ request: inout Request
    ) throws(KeychainFault) -> [UInt8] {
        try commands.run(bytes.bytes, on: tree, request: &request)
    }
}
