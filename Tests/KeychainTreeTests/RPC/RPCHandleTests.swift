import FileSystemCore
import FileSystemTesting
import Keychain
import KeychainTesting
import Synchronization
import SystemPackage
import Testing

@testable import KeychainTree

/// The control file `rpc` (contract, section 9): what a descriptor answers in each state, without a kernel.
@Suite struct RPCHandleTests {
    private let service = FakeService()
    private let fixture: TreeFixture
    private let client: TreeProcess
    private let path = ".keychainfs/rpc"

    init() throws {
        fixture = try TreeFixture(requests: service)
        client = TreeProcess(fixture, 1)
    }

    private func open() throws -> TreeProcess.Descriptor { try client.open(path, [.readWrite]) }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// Reads an answer until a read gives nothing.
    private func all(_ file: TreeProcess.Descriptor, size: Int = 131_072) throws -> String {
        var response: [UInt8] = []
        while true {
            let bytes = try client.read(file, size: size)
            if bytes.isEmpty { return text(response) }
            response += bytes
        }
    }

    private var carriedOut: [String] { service.carriedOut.withLock { $0 } }

    @Test(
        "§9: a request in any pieces, its answer in any reads; several on one descriptor", arguments: [1, 2, 3, 7, 100])
    func pieces(_ size: Int) throws {
        let file = try open()
        for word in ["abcdef", "x", "0123456789"] {
            let request = Array("?\(word.utf8.count < 10 ? "0" : "")\(word.utf8.count)\(word)".utf8)
            for start in stride(from: 0, to: request.count, by: size) {
                try client.write(file, bytes: Array(request[start..<min(start + size, request.count)]))
            }
            #expect(try all(file, size: size) == word + word)
        }
        #expect(carriedOut == ["abcdef", "x", "0123456789"])
        #expect(try client.read(file).isEmpty)
        try client.close(file)
    }

    @Test(
        "§9: a write only collects bytes; the first read after the last byte executes the request, once, for any read size"
    )
    func once() throws {
        let file = try open()
        try client.write(file, "?03abc")
        #expect(carriedOut.isEmpty)
        #expect(text(try client.read(file, size: 1)) == "a")
        #expect(carriedOut == ["abc"])
        #expect(try all(file, size: 2) == "bcabc")
        #expect(carriedOut == ["abc"])
        try client.close(file)
        let other = try open()
        try client.write(other, "?03abc")
        try client.close(other)
        #expect(carriedOut == ["abc"])
    }

    @Test("§9: a request may follow immediately after the last byte of a response, and not before it")
    func oneAtATime() throws {
        let file = try open()
        try client.write(file, "?04abcd")
        #expect(throws: Errno.resourceBusy) { try client.write(file, "?01x") }
        #expect(text(try client.read(file)) == "abcd")
        #expect(throws: Errno.resourceBusy) { try client.write(file, "?01x") }
        #expect(text(try client.read(file)) == "abcd")
        try client.write(file, "?01x")
        #expect(try all(file) == "xx")
        #expect(carriedOut == ["abcd", "x"])
    }

    @Test("§9: an invalid request is refused as soon as its first bytes show it, and then a new one begins")
    func refused() throws {
        let file = try open()
        for (written, error) in [
            ("!", Errno.invalidArgument), ("?9", nil), ("9", .messageTooLong), ("?01ab", .messageTooLong), ("?0", nil),
            ("x", .invalidArgument), ("?02a", nil), ("bc", .messageTooLong),
        ] as [(String, Errno?)] {
            if let error {
                #expect(throws: error, "\(written)") { try client.write(file, written) }
            } else {
                try client.write(file, written)
            }
        }
        #expect(try client.read(file).isEmpty)
        try client.write(file, "?01y")
        #expect(try all(file) == "yy")
        #expect(carriedOut == ["y"])
    }

    @Test("§9: a read returns EAGAIN for an incomplete request and no bytes without a request; a write-only open fails")
    func incomplete() throws {
        let file = try open()
        #expect(try client.read(file).isEmpty)
        try client.write(file, "?0")
        #expect(throws: Errno.resourceTemporarilyUnavailable) { try client.read(file) }
        try client.write(file, "2ab")
        #expect(try all(file) == "abab")
        #expect(throws: Errno.invalidArgument) { try client.open(path, [.writeOnly]) }
        let reader = try client.open(path)
        #expect(try client.read(reader).isEmpty)
        let attributes = try client.stat(path)
        #expect((attributes.size, attributes.permissions, attributes.userID) == (0, 0o600, 1000))
    }

    @Test("§9: the page cache gets nothing: it would ask more than once")
    func pageCache() throws {
        let file = try open()
        try client.write(file, "?01x")
        #expect(throws: Errno.operationNotSupportedByDevice) { try client.read(file, forPageCache: true) }
        #expect(carriedOut.isEmpty)
        #expect(try all(file) == "xx")
    }

    @Test("§9: all users except the mounting user and root are refused, even with a descriptor of another user")
    func callers() throws {
        let file = try open()
        try client.write(file, "?01x")
        client.userID = 1001
        #expect(throws: Errno.permissionDenied) { try open() }
        #expect(throws: Errno.permissionDenied) { try client.write(file, "?01x") }
        #expect(throws: Errno.permissionDenied) { try client.read(file) }
        client.userID = 0
        #expect(try all(file) == "xx")
        #expect(service.callers.withLock { $0 } == [0])
    }

    @Test("§9: an interrupted read has done nothing and can be repeated")
    func interrupted() throws {
        let file = try open()
        try client.write(file, "?04abcd")
        client.isInterrupted = true
        #expect(throws: Errno.interrupted) { try client.read(file) }
        #expect(carriedOut.isEmpty)
        client.isInterrupted = false
        #expect(text(try client.read(file, size: 3)) == "abc")
        client.isInterrupted = true
        #expect(throws: Errno.interrupted) { try client.read(file) }
        client.isInterrupted = false
        #expect(try all(file) == "dabcd")
        #expect(carriedOut == ["abcd"])
    }

    @Test("H1: without memory a response, or a chunk of it, can be requested again; other failures discard it")
    func failures() throws {
        let file = try open()
        service.script.withLock { $0.failures = [1: .allocate] }
        try client.write(file, "?04abcd")
        #expect(text(try client.read(file)) == "abcd")
        #expect(throws: Errno.noMemory) { try client.read(file) }
        #expect(try all(file) == "abcd")
        service.script.withLock { $0.failures = [1: .interactionNotAllowed] }
        try client.write(file, "?04efgh")
        #expect(text(try client.read(file)) == "efgh")
        #expect(throws: Errno.noKey) { try client.read(file) }
        #expect(try client.read(file).isEmpty)
        service.script.withLock { $0.refusal = .allocate }
        try client.write(file, "?01x")
        #expect(throws: Errno.noMemory) { try client.read(file) }
        service.script.withLock { $0.refusal = nil }
        #expect(try all(file) == "xx")
        try client.write(file, "?01y")
        #expect(try all(file) == "yy")
        #expect(carriedOut == ["abcd", "efgh", "x", "y"])
    }

    @Test(
        "§9: while one thread's read carries a request out, others of the descriptor are busy, and other descriptors not"
    )
    func twoThreads() throws {
        let (file, other) = (try open(), try open())
        let (entered, goOn) = (TestSemaphore(), TestSemaphore())
        service.script.withLock {
            $0.waits = true
            $0.onAnswer = {
                entered.signal()
                goOn.wait()
            }
        }
        try client.write(file, "?01x")
        let (response, blockingCalls) = (MutexBox(""), MutexBox(0))
        let (tree, fixture) = (fixture.tree, fixture)
        let thread = TestThread.started {
            let own = TreeProcess(fixture, 2)
            response.withLock { $0 = (try? own.read(file)).map { String(decoding: $0, as: UTF8.self) } ?? "nothing" }
            blockingCalls.withLock { $0 = own.blockingCalls.withLock { $0 } }
        }
        entered.wait()
        #expect(throws: Errno.resourceBusy) { try client.read(file) }
        #expect(throws: Errno.resourceBusy) { try client.write(file, "?01y") }
        service.script.withLock { $0.onAnswer = nil }
        try client.write(other, "?01z")
        #expect(try all(other) == "zz")
        #expect(tree.table.withLock { $0.allExchanges().count } == 2)
        goOn.signal()
        #expect(thread.join(seconds: 10))
        #expect(response.withLock { $0 } == "xx" && blockingCalls.withLock { $0 } == 1)
        #expect(carriedOut == ["z", "x"])
    }

    @Test("Other requests are served during a long one, and no thread is woken for a short one; both count as use")
    func blockingCalls() throws {
        let file = try open()
        client.blockingCalls.withLock { $0 = 0 }
        let before = fixture.tree.lastUse
        try client.write(file, "?02ab")
        #expect(try client.read(file).count == 4)
        #expect(client.blockingCalls.withLock { $0 } == 0 && fixture.tree.lastUse > before)
        service.script.withLock { $0.waits = true }
        try client.write(file, "?04abcd")
        #expect(try client.read(file).count == 4)
        #expect(client.blockingCalls.withLock { $0 } == 1)
        #expect(try client.read(file).count == 4)
        #expect(client.blockingCalls.withLock { $0 } == 2)
        // An item's write may commit, and a command may do anything.
        try client.mkdir("generic-passwords/s")
        let item = try client.open("generic-passwords/s/a", [.writeOnly, .create])
        try client.write(item, "x")
        #expect(client.blockingCalls.withLock { $0 } == 3)
        let control = try client.open(".keychainfs/control", [.readWrite])
        try client.write(control, "lock\n")
        #expect(client.blockingCalls.withLock { $0 } == 4)
    }

    // MARK: Locking

    private func lock() { _ = fixture.tree.lock() }

    @Test("L2: a lock discards collected bytes, complete requests and unread responses; ENOKEY is returned once")
    func locks() throws {
        let idle = try open()
        let (partial, whole, answering, sealed) = (try open(), try open(), try open(), try open())
        try client.write(partial, "?02a")
        try client.write(whole, "?02ab")
        for file in [answering, sealed] { try client.write(file, "?04abcd") }
        #expect(text(try client.read(answering)) == "abcd")
        #expect(text(try client.read(sealed, size: 1)) == "a")
        lock()
        #expect(try client.read(idle).isEmpty)
        #expect(throws: Errno.noKey) { try client.write(partial, "b") }
        for file in [whole, answering, sealed] { #expect(throws: Errno.noKey) { try client.read(file) } }
        #expect(carriedOut == ["abcd", "abcd"])
        // After the error was returned, all accept new requests, locked or not.
        for file in [idle, partial, whole, answering, sealed] {
            try client.write(file, "?01n")
            #expect(try all(file) == "nn")
        }
    }

    @Test("L2: a lock during a request: its read returns its data, the rest is discarded")
    func lockInTheMiddle() throws {
        let file = try open()
        let tree = fixture.tree
        service.script.withLock { $0.onAnswer = { _ = tree.lock() } }
        try client.write(file, "?04abcd")
        #expect(text(try client.read(file)) == "abcd")
        #expect(throws: Errno.noKey) { try client.read(file) }
        #expect(try client.read(file).isEmpty)
        // A short response is complete: its reader gets it.
        try client.write(file, "?02ab")
        #expect(try all(file) == "abab")
    }

    @Test("H1: between two calls no byte of a request or a response is in clear text") func sealed() throws {
        let file = try open()
        service.script.withLock { $0.pieceSize = 100 }
        let canary = "canary-of-a-request"
        try client.write(file, "?19\(canary)")
        guard case .exchange(let exchange)? = fixture.tree.table.withLock({ $0.handle(file.opened.handle) }) else {
            return #expect(Bool(false))
        }
        #expect(exchange.weight == 22)
        #expect(!String(reflecting: exchange).contains(canary))
        #expect(text(try client.read(file, size: 5)) == "canar")
        #expect(exchange.weight == 33)
        fixture.tree.stagingKeys.revoke(.unlocked)
        #expect(throws: Errno.noKey) { try client.read(file) }
    }

    @Test("A tree without a service has no such file") func absent() throws {
        let plain = TreeProcess(try TreeFixture())
        #expect(throws: Errno.noSuchFileOrDirectory) { try plain.stat(path) }
        #expect(try client.stat(path).type == .regular)
    }
}
