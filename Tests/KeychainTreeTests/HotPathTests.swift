import CInstructionCounter
import CMemoryProbe
import FileSystemCore
import FileSystemTesting
import SystemPackage
import Testing

@testable import KeychainTree

/// The number of allocations and instructions of the hot paths. Unlike times, these counts hardly depend on the
/// machine. They are those of a debug build, without kernel and store. Lower a limit that is no longer reached; a limit
/// that is exceeded indicates additional work.
@Suite struct HotPathTests {
    /// In a separate process: a block may be longer than requested, and a growing array then needs fewer of them, so
    /// the count depends on the earlier use of the heap.
    @Test("a cached lookup allocates no memory, an open only its handle, a read only the arena's records")
    func allocations() async {
        await #expect(processExitsWith: .exitCode(0)) {
            let paths = try HotPaths()
            #expect(try Self.blocks(paths.read) <= 10)
            #expect(try Self.blocks(paths.open) <= 1)
            #expect(try Self.blocks(paths.getattr) <= 0)
            #expect(try Self.blocks(paths.lookup) <= 68)
            #expect(try Self.blocks(paths.commit) <= 280)
        }
    }

    /// A tenth more than the most that was counted: the seed of a Dictionary, another one in each process, moves an open by a
    /// tenth, and libc and libsodium choose their loops by the processor.
    @Test("instructions of an open, a read, a getattr, a lookup and a commit")
    func instructions() async {
        await #expect(processExitsWith: .exitCode(0)) {
            let paths = try HotPaths()
            #expect(try Self.instructions(paths.read) <= 65_000)
            #expect(try Self.instructions(paths.open) <= 42_000)
            #expect(try Self.instructions(paths.getattr) <= 14_000)
            #expect(try Self.instructions(paths.lookup) <= 350_000)
            #expect(try Self.instructions(paths.commit) <= 1_750_000)
        }
    }

    @Test("the hash of a chunk is computed at its first read only, its ciphertext is decrypted at each")
    func parts() async {
        await #expect(processExitsWith: .exitCode(0)) {
            let paths = try HotPaths()
            _ = try Self.instructions(paths.read)
            let first = try Self.count(paths.readPart)
            let later = try Self.instructions(paths.readPart)
            // A third of the first read of a chunk of 16 KiB is its hash. With a sanitizer nothing is counted.
            #expect(later < first * 4 / 5 || first == 0)
        }
    }

    /// The blocks that one call takes once everything is warm.
    private static func blocks(_ body: () throws -> Void) rethrows -> Int {
        for _ in 0..<20 { try body() }
        let before = memory_allocations()
        for _ in 0..<100 { try body() }
        return Int(memory_allocations() - before) / 100
    }

    /// The instructions of one call, once everything is warm.
    private static func instructions(_ body: () throws -> Void) throws -> Int {
        for _ in 0..<20 { try body() }
        return try count(body)
    }

    private static func count(_ body: () throws -> Void) throws -> Int {
        let isCounted = instruction_counter_begin() != 0
        let result = Result { try body() }
        let count = Int(instruction_counter_end())
        try result.get()
        #expect(count > 1000 || !isCounted)
        return count
    }
}

/// A call of each kind, on an item that has been used.
private struct HotPaths {
    private let fixture: TreeFixture
    private let entry: Entry
    private let parent: NodeID
    private let name: EntryName
    private let reader: HandleID
    private let writer: HandleID
    private let long: (entry: Entry, handle: HandleID)

    init() throws {
        fixture = try TreeFixture()
        let client = TreeProcess(fixture, 1)
        try client.mkdir("generic-passwords/s")
        try client.put("generic-passwords/s/a", "a secret of some bytes")
        entry = try client.entry("generic-passwords/s/a")
        parent = try client.parent("generic-passwords/s/a").node
        name = try client.name("a")
        var request = Self.request
        reader = try fixture.tree.open(&request, node: entry.node, flags: []).handle
        writer = try fixture.tree.open(&request, node: entry.node, flags: [.writeOnly]).handle
        try client.put("generic-passwords/s/long", String(repeating: "x", count: 16 << 10))
        let entry = try client.entry("generic-passwords/s/long")
        long = (entry, try fixture.tree.open(&request, node: entry.node, flags: []).handle)
    }

    private static var request: Request { Request(caller: Caller(userID: 1000, groupID: 1000, processID: 1)) }
    private static let owner = LockOwner(rawValue: 1)

    func read() throws {
        var request = Self.request
        try fixture.tree.read(
            &request, node: entry.node, handle: reader, offset: 0, size: 4096, owner: Self.owner
        ) { _, _ in }
    }

    func readPart() throws {
        var request = Self.request
        try fixture.tree.read(
            &request, node: long.entry.node, handle: long.handle, offset: 8192, size: 4096, owner: Self.owner
        ) { _, _ in }
    }

    func open() throws {
        var request = Self.request
        let opened = try fixture.tree.open(&request, node: entry.node, flags: [])
        fixture.tree.release(&request, node: entry.node, handle: opened.handle)
    }

    func getattr() throws {
        var request = Self.request
        _ = try fixture.tree.getattr(&request, node: entry.node, handle: nil)
    }

    func lookup() throws {
        var request = Self.request
        guard case .found(let entry) = try fixture.tree.lookup(&request, parent: parent, name: name) else { return }
        fixture.tree.forget(entry.node, count: 1)
    }

    /// A write and the close that makes it durable.
    func commit() throws {
        var request = Self.request
        let bytes: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
        _ = try fixture.tree.write(
            &request, node: entry.node, handle: writer, offset: 0, data: bytes.span.bytes, owner: Self.owner, flags: [])
        try fixture.tree.flush(&request, node: entry.node, handle: writer, owner: Self.owner)
    }
}
