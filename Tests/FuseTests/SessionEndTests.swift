import FileSystemCore
import FileSystemTesting
import Foundation
import LinuxSupport
import Testing

@testable import Fuse

/// The end of a session while requests wait for a disk.
@Suite struct SessionEndTests {
    private let fileSystem = MemoryFileSystem()
    private let entered = TestSemaphore()
    private let gate = TestSemaphore()
    private let left = TestSemaphore()

    /// Makes each read wait for the gate, as if for a disk.
    private func holdReads() {
        fileSystem.script.withLock {
            $0.onRead = { [entered, gate, left] _ in
                entered.signal()
                gate.wait()
                left.signal()
                return true
            }
        }
    }

    private var destroyed: Int { fileSystem.state.withLock { $0.destroyed } }

    private func milliseconds(_ body: () throws -> Void) rethrows -> Int {
        let start = ContinuousClock.now
        try body()
        return Int((ContinuousClock.now - start) / .milliseconds(1))
    }

    @Test(
        "H4: run returns 4 s after the end although a request waits, and closes the connection within a second",
        arguments: [1, 8])
    func hungRequests(_ count: Int) throws {
        let mount = try MountedSession(fileSystem) { $0.workers = 4 }
        try mount.client.put("/a", "x")
        holdReads()
        let readers = (0..<count).map { _ in TestThread.started { _ = try? mount.client.contents("/a") } }
        for _ in 0..<min(count, 4) { #expect(entered.wait(seconds: 10)) }
        // Keeps the connection, as a bind mount or another mount namespace does.
        let file = open(mount.path, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        try mount.session.unmount(lazily: true)
        mount.session.exit()
        let closed = milliseconds {
            for reader in readers { #expect(reader.join(seconds: 10)) }
        }
        #expect(closed < 2500)
        #expect(faccessat(file, "a", F_OK, 0) == -1 && errno == ENOTCONN)
        close(file)
        let ended = milliseconds { #expect(mount.waitForEnd()) }
        #expect(closed + ended > 3500 && closed + ended < 8000)
        #expect(mount.end?.isComplete == false)
        #expect(destroyed == 0, "threads still use the file system")
        // They reply to a connection that no longer exists.
        for _ in 0..<min(count, 4) { gate.signal() }
        for _ in 0..<min(count, 4) { #expect(left.wait(seconds: 10)) }
    }

    @Test("H4: a request that takes less than 4 s is completed, and the session ends completely") func slowRequest()
        throws
    {
        let mount = try MountedSession(fileSystem)
        try mount.client.put("/a", "x")
        holdReads()
        let reader = TestThread.started { _ = try? mount.client.contents("/a") }
        #expect(entered.wait(seconds: 10))
        mount.session.exit()
        usleep(2_000_000)
        #expect(destroyed == 0)
        gate.signal()
        #expect(mount.waitForEnd() && reader.join())
        #expect(mount.end?.isComplete == true)
        #expect(destroyed == 1)
    }

    @Test("H4: a session ends although all threads wait and none receives") func noReceiver() throws {
        let session = try WireSession(fileSystem, workers: 1, servesAtOnce: true)
        let client = PathClient(session.wire)
        try client.put("/a", "x")
        holdReads()
        let reader = TestThread.started { _ = try? client.contents("/a") }
        #expect(entered.wait(seconds: 10))
        session.session.exit()
        #expect(session.waitForEnd())
        gate.signal()
        #expect(left.wait(seconds: 10))
        session.stop()
        #expect(reader.join())
    }

    @Test("H4: a thread that waits for a change of the table of mounts wakes after each, and when it is cancelled")
    func tableChanges() throws {
        let table = try MountTableFile()
        let start = ContinuousClock.now
        #expect(table.pause(for: .milliseconds(50)) && ContinuousClock.now - start >= .milliseconds(50))
        let texts = MutexBox<[String]>([])
        let observer = TestThread.started {
            repeat {
                let text = (try? table.contents()).map { String(decoding: $0, as: UTF8.self) }
                texts.withLock { $0.append(text ?? "") }
            } while table.waitForChange()
        }
        let mount = try MountedSession(fileSystem)
        #expect(eventually { texts.withLock { $0.last?.contains(mount.path) == true } })
        mount.stop()
        #expect(eventually { texts.withLock { $0.last?.contains(mount.path) == false } })
        table.cancel()
        #expect(observer.join(seconds: 10))
        #expect(!table.waitForChange() && !table.pause(for: .seconds(60)))
    }
}
