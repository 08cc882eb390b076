import FileSystemCore
import FileSystemTesting
import Keychain
import KeychainTesting
import SystemPackage
import Testing

@testable import KeychainTree

/// Commands that run until the test lets them end, on separate threads.
private final class SlowCommands: ControlCommandHandler, CommandThreads {
    let started = TestSemaphore()
    let resume = TestSemaphore()
    let sent = MutexBox(0)

    func status(of tree: KeychainFileSystem) -> [UInt8] { [] }

    func run(_ command: RawSpan, on tree: KeychainFileSystem, request: inout Request) throws(KeychainFault) -> [UInt8] {
        started.signal()
        resume.wait()
        if command.byteCount == "fail".utf8.count { throw .authFailed }
        request.notificationsBeforeReply.append(.wipeStacks)
        return Array("done".utf8)
    }

    func start(_ body: @escaping @Sendable () -> Void) throws(Errno) { TestThread(body).start() }
    func finish(_ notifications: [FileSystemCore.Notification]) { sent.withLock { $0 += notifications.count } }
}

/// If the kernel limits the time of a request, the write of a command returns before the command ends.
@Suite struct CommandLimitTests {
    private let commands = SlowCommands()

    /// A process on a tree whose commands may take `longestWait` milliseconds until their write returns.
    private func client(_ longestWait: Int) throws -> TreeProcess {
        TreeProcess(
            try TreeFixture(
                commands: commands, commandLimit: CommandLimit(longestWait: longestWait, threads: commands)))
    }

    /// Reads until the command has ended.
    private func result(_ client: TreeProcess, _ file: TreeProcess.Descriptor) throws(Errno) -> [UInt8] {
        while true {
            do throws(Errno) {
                return try client.read(file)
            } catch .resourceTemporarilyUnavailable {
                continue
            }
        }
    }

    @Test("L4: its result is read when it has ended, after its notifications; until then EAGAIN, and EBUSY for another")
    func longCommand() throws {
        let client = try client(20)
        let file = try client.open(".keychainfs/control", [.readWrite])
        try client.write(file, "long command")
        #expect(commands.started.wait(seconds: 10))
        #expect(throws: Errno.resourceTemporarilyUnavailable) { try client.read(file) }
        #expect(throws: Errno.resourceBusy) { try client.write(file, "another") }
        #expect(commands.sent.withLock { $0 } == 0)
        commands.resume.signal()
        #expect(try result(client, file) == Array("done".utf8))
        #expect(commands.sent.withLock { $0 } == 1)
        #expect(try client.read(file) == [])
        try client.close(file)
    }

    @Test("L4: the error of a long command is that of the read, once; of a short one, that of the write")
    func failure() throws {
        let client = try client(20)
        let file = try client.open(".keychainfs/control", [.readWrite])
        try client.write(file, "fail")
        commands.resume.signal()
        #expect(throws: KeychainFault.authFailed.errno) { try result(client, file) }
        #expect(try client.read(file) == [])
        try client.close(file)
        let slowClient = try self.client(10_000)
        commands.resume.signal()
        let other = try slowClient.open(".keychainfs/control", [.readWrite])
        #expect(throws: KeychainFault.authFailed.errno) { try slowClient.write(other, "fail") }
        commands.resume.signal()
        try slowClient.write(other, "short")
        #expect(try slowClient.read(other) == Array("done".utf8))
        try slowClient.close(other)
    }

    @Test("L4: a read that waits together with the write of a command returns the command's result")
    func concurrentRead() throws {
        let limit = CommandLimit(longestWait: 10_000, threads: commands)
        for _ in 0..<2_000 {
            let handle = ControlHandle(.control, response: [])
            let writer = TestThread.started { [commands] in
                _ = try? handle.run(limit) {
                    commands.started.signal()
                    commands.resume.wait()
                    return (.success([1]), [])
                }
            }
            #expect(commands.started.wait(seconds: 10))
            let response = MutexBox<[UInt8]?>(nil)
            let reader = TestThread.started {
                let bytes = try? handle.next(1, limit: limit)
                response.withLock { $0 = bytes }
            }
            commands.resume.signal()
            #expect(writer.join())
            #expect(reader.join())
            #expect(response.withLock { $0 } == [1])
        }
    }
}
