import FileSystemCore
import FileSystemTesting
import Foundation
import LinuxSupport
import Synchronization
import SystemPackage
import Testing

@testable import Fuse

/// The parts of a FUSE daemon outside of its session.
@Suite struct DaemonTests {
    /// A mount whose daemon is dead.
    private func deadMount(at path: String) throws {
        let (device, _) = try Mount.make(at: path, SessionOptions(source: "dead", subtype: "keychainfs-test"))
        close(device)
    }

    private func permissions(_ path: String) throws -> UInt32 {
        try MountedClient(root: path).stat("/").permissions
    }

    @Test func mountTable() {
        let text = """
            22 1 254:0 / / rw,relatime - ext4 /dev/root rw
            36 22 0:33 / /mnt/with\\040space\\011tab\\134 ro,nosuid shared:1 master:2 - fuse.x a\\054b rw,user_id=0
            no line at all
            37 22 0:34 / /mnt rw - tmpfs none rw
            38 22 0:35 / /mnt rw - fuse.keychainfs login.keychain rw
            39 22 0:36 / /broken rw
            """
        let table = MountTable(parsing: Array(text.utf8))
        #expect(table.entries.map(\.identifier) == [22, 36, 37, 38])
        let strange = table.mount(at: "/mnt/with space\ttab\\")
        #expect(strange?.type == "fuse.x" && strange?.source == "a,b" && strange?.isReadOnly == true)
        #expect(table.mount(at: "/mnt/")?.type == "fuse.keychainfs")
        #expect(table.mount(at: "/")?.identifier == 22)
        #expect(table.mount(at: "/none") == nil && table.mount(at: "/broken") == nil)
    }

    @Test("H3: a mount point must be an empty directory that the user owns") func mountPointChecks() throws {
        let directory = try TemporaryDirectory()
        #expect(throws: MountPointError.missing) { _ = try MountDirectory(at: directory.path + "/none") }
        let file = directory.path + "/file"
        try MountedClient(root: directory.path).put("/file", "")
        #expect(throws: MountPointError.notDirectory) { _ = try MountDirectory(at: file) }
        #expect(throws: MountPointError.notEmpty) { _ = try MountDirectory(at: directory.path) }
        try MountedClient(root: directory.path).unlink("/file")
        _ = try MountDirectory(at: directory.path)
        try deadMount(at: directory.path)
        #expect(throws: MountPointError.alreadyMounted(type: MountedSession.type)) {
            _ = try MountDirectory(at: directory.path)
        }
        #expect(try StaleMount.clean(at: directory.path, type: MountedSession.type))
    }

    @Test("H3: the directory below the mount is sealed") func mountPointPermissions() throws {
        let directory = try TemporaryDirectory()
        let point = try MountDirectory(at: directory.path)
        try point.prepare()
        #expect(try permissions(directory.path) == 0o700)
        let session = try Session(
            MemoryFileSystem(), options: SessionOptions(source: "s", subtype: "keychainfs-test"))
        try session.mount(at: point.path)
        try point.seal()
        let thread = TestThread.started { _ = try? session.run() }
        // The permissions of the mount's root.
        #expect(try permissions(directory.path) == 0o700)
        try unmountWhenIdle { try session.unmount() }
        #expect(thread.join())
        #expect(try permissions(directory.path) == 0o500)
    }

    @Test("H4: a stale mount is cleaned up, a live one is not") func staleMounts() throws {
        let directory = try TemporaryDirectory()
        #expect(try !StaleMount.clean(at: directory.path, type: MountedSession.type))
        try deadMount(at: directory.path)
        #expect(!StaleMount.exists(at: directory.path, type: "fuse.other"))
        #expect(try !StaleMount.clean(at: directory.path, type: "fuse.other"))
        #expect(StaleMount.exists(at: directory.path, type: MountedSession.type))
        #expect(try StaleMount.clean(at: directory.path, type: MountedSession.type))
        #expect(try MountTable.current().mount(at: directory.path) == nil)
        let live = try MountedSession(MemoryFileSystem())
        #expect(try !StaleMount.clean(at: live.path, type: MountedSession.type))
        #expect(live.stop())
    }

    @Test("L6: messages and replies of the watchdog are passed unchanged; any other byte means a shutdown")
    func watchdogMessages() {
        for message in [
            WatchdogMessage.shutdown, .mount(0), .mount(.max), .unmount(lazily: true), .unmount(lazily: false),
        ] {
            #expect(WatchdogMessage(message.bytes) == message)
        }
        for bytes in [
            [], [9], [2, 1], [3], [2] + [UInt8](repeating: 0, count: 7), [9] + [UInt8](repeating: 0, count: 8),
        ] {
            #expect(WatchdogMessage(bytes) == .shutdown)
        }
        let long = FuseError.unmountRefused(message: String(repeating: "x", count: 1000))
        for error in [nil, .busy, .notMounted, .unmountRefused(message: "why")] as [FuseError?] {
            #expect(WatchdogReply.error(WatchdogReply.bytes(error)) == error)
        }
        #expect(WatchdogReply.bytes(long).count == WatchdogReply.byteLimit)
        #expect(WatchdogReply.error(WatchdogReply.bytes(.helperMissing)) != nil)
    }

    @Test("L6: the watchdog unmounts for its daemon only the watched mount, busy or not")
    func watchdogUnmounts() throws {
        let mounted = try MountedSession(MemoryFileSystem())
        let other = try MountedSession(MemoryFileSystem())
        var messages = try Fuse.Pipe()
        var replies = try Fuse.Pipe()
        let (input, output) = (messages.readEnd, replies.writeEnd)
        let process = TestThread.started { runWatchdog(input, replies: output, at: "/none") }
        let connection = WatchdogConnection(
            messages: messages.takeWriteEnd(), replies: replies.takeReadEnd(), watchdogID: getpid())
        #expect(throws: FuseError.notMounted) { _ = try connection.unmount(lazily: true) }
        connection.send(.mount(try #require(mounted.session.mountIdentifier)))
        let open = try FileDescriptor.open(FilePath(mounted.path), .readOnly, options: .closeOnExec)
        #expect(throws: FuseError.busy) { _ = try connection.unmount(lazily: false) }
        try open.close()
        #expect(try unmountWhenIdle { try connection.unmount(lazily: false) })
        #expect(mounted.waitForEnd())
        #expect(throws: FuseError.notMounted) { _ = try connection.unmount(lazily: false) }
        #expect(try MountTable.current().mount(at: other.path) != nil)
        connection.send(.shutdown)
        #expect(process.join())
        // A guard that has ended.
        replies.closeWriteEnd()
        #expect(try !connection.unmount(lazily: false))
        #expect(other.stop())
    }

    @Test(
        "L6: after a timeout the daemon does not wait for the watchdog again, and a late reply is not mistaken for another"
    )
    func silentGuard() throws {
        var messages = try Fuse.Pipe()
        var replies = try Fuse.Pipe()
        let connection = WatchdogConnection(
            messages: messages.takeWriteEnd(), replies: replies.takeReadEnd(), watchdogID: getpid(), timeout: 50)
        #expect(try !connection.unmount(lazily: false))
        let late = WatchdogReply.bytes(nil)
        #expect(write(replies.writeEnd, late, late.count) == 1)
        #expect(try !connection.unmount(lazily: false))
    }

    @Test("L6: a signal during a request to the watchdog does not end the wait for the reply")
    func interruptedRequest() throws {
        var messages = try Fuse.Pipe()
        var replies = try Fuse.Pipe()
        let connection = WatchdogConnection(
            messages: messages.takeWriteEnd(), replies: replies.takeReadEnd(), watchdogID: getpid(), timeout: 10_000)
        // Ignored by default; poll(2) is interrupted only by a signal with a handler.
        let previous = signal(SIGWINCH) { _ in }
        defer { signal(SIGWINCH, previous) }
        let requester = Mutex<pthread_t?>(nil)
        let isAnswered = Mutex<Bool?>(nil)
        let thread = TestThread.started {
            // A thread inherits the mask of Dispatch's threads, which block signals.
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGWINCH)
            pthread_sigmask(SIG_UNBLOCK, &signals, nil)
            requester.withLock { $0 = pthread_self() }
            let result = try? connection.unmount(lazily: false)
            isAnswered.withLock { $0 = result }
        }
        var message = [UInt8](repeating: 0, count: WatchdogMessage.byteCount)
        #expect(read(messages.readEnd, &message, message.count) == message.count)
        let identifier = try #require(requester.withLock { $0 })
        for _ in 0..<20 where isAnswered.withLock({ $0 == nil }) {
            pthread_kill(identifier, SIGWINCH)
            usleep(5000)
        }
        let reply = WatchdogReply.bytes(nil)
        #expect(write(replies.writeEnd, reply, reply.count) == 1)
        #expect(thread.join())
        #expect(isAnswered.withLock { $0 } == true)
    }

    @Test("H4: the watchdog unmounts when the daemon is dead, and only then") func mountGuard() throws {
        let directory = try TemporaryDirectory()
        // The shutdown message: nothing is changed.
        try deadMount(at: directory.path)
        var pipe = try Fuse.Pipe()
        var shutdown: UInt8 = 1
        #expect(write(pipe.writeEnd, &shutdown, 1) == 1)
        runWatchdog(pipe.readEnd, at: directory.path)
        #expect(StaleMount.exists(at: directory.path, type: MountedSession.type))
        // The end of the pipe: the mount goes.
        pipe.closeWriteEnd()
        runWatchdog(pipe.readEnd, at: directory.path)
        #expect(try MountTable.current().mount(at: directory.path) == nil)
        // Without a mount it returns immediately.
        runWatchdog(pipe.readEnd, at: directory.path)
    }

    @Test("H4: the watchdog has two pipes and no other descriptor, and gets the shutdown message")
    func watchdogProcess()
        throws
    {
        let directory = try TemporaryDirectory()
        let script = "ls /proc/self/fd >\"$1/descriptors\"; head -c 1 <&3 | wc -c >\"$1/said\""
        let watchdog = try MountWatchdog.start("/bin/sh", arguments: ["-c", script, "sh", directory.path])
        let client = MountedClient(root: directory.path)
        #expect(eventually { client.exists("/said") })
        watchdog.stop()
        #expect(try client.text("/said").trimmingCharacters(in: .whitespacesAndNewlines) == "1")
        // 5 is what ls itself opens.
        let descriptors = try client.text("/descriptors").split(separator: "\n").map(String.init)
        #expect(Set(descriptors).isSubset(of: ["0", "1", "2", "3", "4", "5"]))
    }

    @Test func backgroundStart() throws {
        let secret = Array("open sesame".utf8)
        let script =
            "printf '\\1' >&3; test \"$(cat <&3)\" = 'open sesame' || exit 9; printf '\\0\\0\\0\\0' >&4; exec 4>&-; sleep 0.1"
        let ready = try DaemonLauncher.start("/bin/sh", arguments: ["-c", script], secret: secret.span.bytes)
        guard case .ready(let processID) = ready else { return #expect(Bool(false), "\(ready)") }
        var status: Int32 = 0
        #expect(waitpid(processID, &status, 0) == processID && status == 0)
        let failing = try DaemonLauncher.start(
            "/bin/sh", arguments: ["-c", "printf '\\5\\0\\0\\0no key' >&4"], secret: secret.span.bytes)
        #expect(failing == .failed(exitCode: 5, message: "no key"))
        let dying = try DaemonLauncher.start("/bin/sh", arguments: ["-c", "exit 7"], secret: secret.span.bytes)
        #expect(dying == .died(status: 7))
        let killed = try DaemonLauncher.start("/bin/sh", arguments: ["-c", "kill -9 $$"], secret: secret.span.bytes)
        #expect(killed == .died(status: 128 + 9))
        // Without a request nothing is sent; without a secret no request is waited for.
        let silent = "exec 5<&3; printf '\\0\\0\\0\\0' >&4; exec 3>&- 4>&-; test -z \"$(cat <&5)\""
        for (script, secret) in [(silent, []), ("printf 2 >&3; " + silent, secret)] {
            let report = try DaemonLauncher.start("/bin/sh", arguments: ["-c", script], secret: secret.span.bytes)
            guard case .ready(let processID) = report else { return #expect(Bool(false), "\(report)") }
            #expect(waitpid(processID, &status, 0) == processID && status == 0)
        }
        let long = [UInt8](repeating: 1, count: DaemonLauncher.maximumSecret + 1)
        #expect(throws: Errno(rawValue: EMSGSIZE)) {
            try DaemonLauncher.start("/bin/sh", arguments: [], secret: long.span.bytes)
        }
    }

    @Test func readyReport() throws {
        var pipe = try Fuse.Pipe()
        ReadinessPipe(descriptor: pipe.takeWriteEnd()).failed(exitCode: 0x0102, message: "why")
        #expect(readAll(pipe.readEnd) == [2, 1, 0, 0] + Array("why".utf8))
    }

    @Test func statisticsOfAPath() throws {
        let directory = try TemporaryDirectory()
        let statistics = try FileSystemStatistics(ofPath: directory.path)
        #expect(statistics.blockSize > 0 && statistics.blocks > 0 && statistics.maximumNameLength >= 255)
        #expect(throws: Errno.noSuchFileOrDirectory) { try FileSystemStatistics(ofPath: directory.path + "/none") }
    }

    @Test func logsOfLibfuseComeToUs() throws {
        let messages = MutexBox<[String]>([])
        FuseLog.setHandler { _, message in messages.withLock { $0.append(message) } }
        defer { FuseLog.setHandler(nil) }
        let session = try WireSession(MemoryFileSystem())
        _ = session.wire.connection.send([1, 2, 3])
        #expect(eventually { messages.withLock { $0.contains("a message of 3 bytes was dropped") } })
        session.stop()
    }
}

/// Runs a watchdog in this process until it exits.
func runWatchdog(_ messages: Int32, replies: Int32 = -1, at mountPoint: String) {
    var process = WatchdogProcess(
        messages: messages, replies: replies, mountPoint: mountPoint, type: MountedSession.type)
    process.run()
}
