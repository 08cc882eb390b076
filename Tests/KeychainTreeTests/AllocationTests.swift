import CMemoryWatch
import FileSystemCore
import FileSystemTesting
import SystemPackage
import Testing

@testable import KeychainTree

/// How often the hot paths take memory: counts are the same on every machine, where times are not. A limit that is not reached
/// any more is to be lowered; one that is passed tells of work that was not there before.
@Suite struct AllocationTests {
    /// In a process of its own: a block may be longer than was asked for, and an array that grows then takes fewer of them, so
    /// the count depends on what others have used the heap for.
    @Test("what is cached costs none, an open its descriptor, a read what the arena notes")
    func reading() async {
        await #expect(processExitsWith: .exitCode(0)) {
            let counts = try AllocationCounts()
            #expect(counts.reads <= 10)
            #expect(counts.opens <= 1)
            #expect(counts.statuses <= 0)
            #expect(counts.lookups <= 55)
        }
    }
}

/// The blocks that one call of each takes, once everything is warm; in a debug build.
private struct AllocationCounts {
    let reads, opens, statuses, lookups: Int

    init() throws {
        let fixture = try TreeFixture()
        let client = TreeProcess(fixture, 1)
        try client.mkdir("generic-passwords/s")
        try client.put("generic-passwords/s/a", "a secret of some bytes")
        let entry = try client.entry("generic-passwords/s/a")
        let (tree, name, parent) = (fixture.tree, try client.name("a"), try client.parent("generic-passwords/s/a").node)
        var request = Request(caller: Caller(userID: 1000, groupID: 1000, processID: 1))
        let opened = try tree.open(&request, node: entry.node, flags: [])
        reads = try Self.count {
            try tree.read(
                &request, node: entry.node, handle: opened.handle, offset: 0, size: 4096, owner: LockOwner(rawValue: 1)
            ) { _, _ in }
        }
        opens = try Self.count {
            let opened = try tree.open(&request, node: entry.node, flags: [])
            tree.release(&request, node: entry.node, handle: opened.handle)
        }
        statuses = try Self.count { _ = try tree.getattr(&request, node: entry.node, handle: nil) }
        lookups = try Self.count {
            guard case .found(let entry) = try tree.lookup(&request, parent: parent, name: name) else { return }
            tree.forget(entry.node, count: 1)
        }
    }

    private static func count(_ body: () throws -> Void) rethrows -> Int {
        for _ in 0..<20 { try body() }
        let before = memory_allocations()
        for _ in 0..<100 { try body() }
        return Int(memory_allocations() - before) / 100
    }
}
