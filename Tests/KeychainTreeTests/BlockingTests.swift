import FileSystemCore
import FileSystemTesting
import Synchronization
import SystemPackage
import Testing

@testable import KeychainTree

/// The CREATEs and WRITEs that call willBlock before they work.
@Suite struct BlockingTests {
    private let fixture: TreeFixture
    private let client: TreeProcess

    init() throws {
        fixture = try TreeFixture()
        client = TreeProcess(fixture, 1)
        try client.mkdir("generic-passwords/s")
        fixture.host.freeBlocks.withLock { $0 = 1 << 30 }
    }

    private func count(_ body: () throws -> Void) rethrows -> Int {
        client.blockingCalls.withLock { $0 = 0 }
        try body()
        return client.blockingCalls.withLock { $0 }
    }

    @Test("creating a file and writing a short value do not call willBlock")
    func short() throws {
        var file: TreeProcess.Descriptor?
        #expect(try count { file = try client.open("generic-passwords/s/a", [.writeOnly, .create]) } == 0)
        #expect(try count { try client.write(#require(file), "x") } == 0)
    }

    @Test("a long value, an immediate commit, and a write that first loads the committed value call willBlock")
    func long() throws {
        let file = try client.open("generic-passwords/s/a", [.writeOnly, .create])
        #expect(try count { try client.write(file, bytes: [UInt8](repeating: 1, count: 20_000)) } == 1)
        try client.close(file)
        let again = try client.open("generic-passwords/s/a", [.writeOnly])
        #expect(try count { try client.write(again, "y") } == 1)
        #expect(try count { try client.write(again, "z") } == 0)
        try client.close(again)
    }

    @Test("F9: with little space on the disk, making space does not delay the request's receiver")
    func littleMemory() throws {
        fixture.host.freeBlocks.withLock { $0 = FakeHost.plentyOfBlocks }
        fixture.host.clock.withLock { $0 += .seconds(1) }
        let file = try client.open("generic-passwords/s/a", [.writeOnly, .create])
        #expect(try count { try client.write(file, "x") } == 1)
    }

    @Test("creating a name during another caller's change announces the wait")
    func names() throws {
        let (entered, resume) = (TestSemaphore(), TestSemaphore())
        let fixture = fixture
        let holder = TestThread.started {
            fixture.tree.names.withLock { _ in
                entered.signal()
                resume.wait()
            }
        }
        entered.wait()
        let maker = WaitingThread {
            _ = try? TreeProcess(fixture, 1).open("generic-passwords/s/a", [.writeOnly, .create])
        }
        #expect(maker.waits() && !maker.ends(seconds: 0.1))
        resume.signal()
        #expect(holder.join(seconds: 10) && maker.ends())
    }
}
