import FileSystemCore
import FileSystemTesting
import Foundation
import LinuxSupport
import SystemPackage
import Testing

@testable import Fuse

/// The end of sessions and watchdogs while callers wait in the kernel.
@Suite struct ShutdownTests {
    /// sendfile(2), which Glibc's module does not have: through the page cache into a pipe. The bytes, or -1.
    private static func sendfile(_ path: String) -> Int {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        return sendfile(file)
    }

    private static func sendfile(_ file: Int32) -> Int {
        typealias Call = @convention(c) (Int32, Int32, UnsafeMutablePointer<Int>?, Int) -> Int
        guard let symbol = dlsym(nil, "sendfile"), var pipe = try? Fuse.Pipe() else { return -1 }
        let count = unsafeBitCast(symbol, to: Call.self)(pipe.writeEnd, file, nil, 4096)
        pipe.closeWriteEnd()
        return count
    }

    /// asm/unistd.h, which Glibc's module lacks.
    #if arch(x86_64)
    private static let sendfileNumber = "40"
    #else
    private static let sendfileNumber = "71"
    #endif

    /// Returns whether a thread of this process sleeps in sendfile(2) from that descriptor, which is the second
    /// argument in /proc/self/task/TID/syscall (proc(5)).
    private static func isInSendfile(_ file: Int32) -> Bool {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return threads.contains { thread in
            let text = (try? String(contentsOfFile: "/proc/self/task/\(thread)/syscall", encoding: .utf8)) ?? ""
            let words = text.split(separator: " ")
            return words.count > 2 && words[0] == sendfileNumber && words[2] == "0x" + String(file, radix: 16)
        }
    }

    /// A mount whose only worker serves the first READ until the gate opens. A page of /a is locked until its READ, which no thread
    /// has received, is answered; a notification waits for the page.
    private struct WaitingNotification {
        let mount: MountedSession
        let gate: TestSemaphore
        let sent: TestSemaphore
        let reads: MutexBox<Int>
        let file: Int32
        private let threads: [TestThread]

        init() throws {
            let fileSystem = MemoryFileSystem()
            let mount = try MountedSession(fileSystem) { $0.workers = 1 }
            try mount.client.put("/a", [UInt8](repeating: 1, count: 4096))
            try mount.client.put("/b", "b")
            let name = try #require(EntryName("a"))
            let node = try #require(fileSystem.state.withLock { $0.nodes[.root]?.names[name] })
            let (entered, gate, sent, reads) = (TestSemaphore(), TestSemaphore(), TestSemaphore(), MutexBox(0))
            fileSystem.script.withLock {
                $0.onRead = { _ in
                    let number = reads.withLock { reads in
                        reads += 1
                        return reads
                    }
                    if number == 1 {
                        entered.signal()
                        gate.wait()
                    }
                    return true
                }
            }
            let file = open(mount.path + "/a", O_RDONLY | O_CLOEXEC)
            let reader = TestThread.started { _ = try? mount.client.contents("/b") }
            entered.wait()
            let sender = TestThread.started { _ = ShutdownTests.sendfile(file) }
            #expect(eventually(seconds: 60) { ShutdownTests.isInSendfile(file) })
            (self.mount, self.file, threads) = (mount, file, [reader, sender])
            (self.gate, self.sent, self.reads) = (gate, sent, reads)
            // When this returns, the notification is queued: it waits in the kernel, or will.
            let notifier = try #require(mount.session.notifier as? Notifier)
            notifier.enqueue([.inode(node, pages: true)]) { sent.signal() }
            usleep(300_000)
        }

        /// Whether the notification and both callers have returned within `seconds`.
        func hasEnded(seconds: Double) -> Bool {
            sent.wait(seconds: seconds) && threads.allSatisfy { $0.join(seconds: seconds) }
        }
    }

    @Test("H4, F10: a session ends with a request that no thread has received and a notification that waits for it")
    func endWithWaitingNotification() throws {
        let waiting = try WaitingNotification()
        defer { close(waiting.file) }
        waiting.mount.session.exit()
        usleep(100_000)
        waiting.gate.signal()
        #expect(waiting.mount.waitForEnd())
        #expect(waiting.hasEnded(seconds: 10))
        // The waiting callers were served. (A page may be dropped before sendfile takes it; then the kernel sends
        // another request after the end.)
        #expect(waiting.reads.withLock { $0 } >= 2)
    }

    @Test("H4: a notification that waits for a request in a mount that was removed does not prevent the end")
    func abortWithoutMount() throws {
        try Self.mountConnections()
        let waiting = try WaitingNotification()
        defer { close(waiting.file) }
        #expect(!waiting.sent.wait(seconds: 0))
        try waiting.mount.session.unmount(lazily: true)
        waiting.mount.session.exit()
        // As if all of them waited for a disk that does not respond.
        #expect(waiting.hasEnded(seconds: 5))
        #expect(waiting.mount.waitForEnd() && waiting.mount.end?.isComplete == false)
        waiting.gate.signal()
    }

    /// Mounts fusectl if this user may and it is not mounted, as in some containers.
    private static func mountConnections() throws {
        let directory = "/sys/fs/fuse/connections"
        guard try MountTable.current().mount(at: directory) == nil else { return }
        let process = try Process.run(
            URL(fileURLWithPath: "/bin/mount"), arguments: ["-t", "fusectl", "none", directory])
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "fusectl is not mounted")
    }

    @Test("H4: the watchdog aborts a connection that another process keeps open, wherever the mount is")
    func watchdogAborts()
        throws
    {
        let directory = try TemporaryDirectory()
        let inner = directory.path + "/parent/mount"
        try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: true)
        let (device, mount) = try Mount.make(at: inner, SessionOptions(source: "kept", subtype: "keychainfs-test"))
        defer { close(device) }
        let identifier = try #require(mount.identifier)
        try FileManager.default.moveItem(atPath: directory.path + "/parent", toPath: directory.path + "/elsewhere")
        let moved = directory.path + "/elsewhere/mount"
        // No thread serves requests: a caller waits until the connection ends.
        let asking = TestThread.started { _ = FileManager.default.fileExists(atPath: moved + "/x") }
        #expect(!asking.join(seconds: 0.3))
        var pipe = try Fuse.Pipe()
        let message = WatchdogMessage.mount(identifier).bytes
        #expect(write(pipe.writeEnd, message, message.count) == 9)
        pipe.closeWriteEnd()
        runWatchdog(pipe.readEnd, at: inner)
        // Not by its number, which another mount may have by now.
        #expect(try MountTable.current().mount(at: moved) == nil)
        #expect(asking.join(seconds: 10))
    }

    @Test("H2: workers wipe their stacks on request, and idle ones are woken for it") func stacks() throws {
        let stacks = StackWipe()
        let woken = TestSemaphore()
        let ended = MutexBox(false)
        let done = TestThread.started {
            let member = stacks.join()
            woken.wait()
            stacks.wipeIfDue(member)
            stacks.leave(member)
            ended.withLock { $0 = true }
        }
        usleep(50_000)
        var wakes = 0
        stacks.run {
            wakes += 1
            woken.signal()
        }
        #expect(wakes == 1 && done.join())
        // A thread that serves a request, which may wait for a disk, hardly delays the caller.
        let member = stacks.join()
        member.isBusy = true
        let delays = (0..<5).map { _ in
            let start = Date()
            stacks.run {}
            return Date().timeIntervalSince(start)
        }
        #expect(try #require(delays.min()) < 0.1)
        // Nor does one that is not run for a long time block it forever.
        member.isBusy = false
        let start = Date()
        stacks.run {}
        #expect(Date().timeIntervalSince(start) < 2)
        stacks.leave(member)
    }

    @Test(
        "H2: after a request to wipe finished calls, no stack of a running or exited worker contains their data",
        arguments: [1, 4, 12])
    func residue(_ workers: Int) throws {
        let fileSystem = MemoryFileSystem()
        let session = try WireSession(fileSystem, workers: workers)
        defer { session.stop() }
        let client = PathClient(session.wire)
        try client.put("/a", "x")
        let left = MutexBox<[Range<UInt>]>([])
        let (entered, gate) = (TestSemaphore(), TestSemaphore())
        fileSystem.script.withLock {
            $0.onRead = { _ in
                let range = StackResidue.leave()
                left.withLock { $0.append(range) }
                entered.signal()
                gate.wait()
                return true
            }
        }
        // The only one, which receives again, or several, of whom all but one are parked afterwards.
        let readers = (0..<max(1, workers - 1)).map { _ in
            TestThread.started {
                guard let file = try? client.open("/a", []) else { return }
                _ = try? client.pread(file, 1, at: 0)
            }
        }
        for _ in readers { entered.wait() }
        for _ in readers { gate.signal() }
        for reader in readers { #expect(reader.join()) }
        let ranges = left.withLock { $0 }
        #expect(StackResidue.count(in: ranges) > 100, "nothing is left: this test shows nothing")
        // Surplus threads exit after their idle timeout.
        if workers > 4 { sleep(6) }
        session.session.notifier.send([.wipeStacks])
        // A thread that has just replied wipes its stack slightly later.
        #expect(eventually { StackResidue.count(in: ranges) == 0 })
    }

    @Test("H1: the kernel's reads for its page cache come without an owner, others with one") func owners() throws {
        let fileSystem = MemoryFileSystem()
        let mount = try MountedSession(fileSystem)
        defer { mount.stop() }
        try mount.client.put("/a", "contents")
        #expect(try mount.client.text("/a") == "contents")
        #expect(fileSystem.count("read for the page cache") == 0)
        #expect(fileSystem.calls.contains { $0.hasPrefix("read by ") })
        #expect(Self.sendfile(mount.path + "/a") == 8)
        #expect(fileSystem.count("read for the page cache") > 0)
    }
}
