import CMemoryWatch
import FileSystemCore
import FileSystemTesting
import SystemPackage
import Testing

@testable import KeychainTree

/// How often the hot paths take memory: counts are nearly the same on every machine, where times are not. A limit that is not reached
/// any more is to be lowered; one that is passed tells of work that was not there before.
@Suite struct AllocationTests {
    /// Of a debug build: 10, 1, 0 and 55 by itself. A block may be longer than was asked for, and an array that grows then takes
    /// fewer of them: so many as it is where others have used the heap before.
    private static let most = (read: 12, open: 1, getattr: 0, lookup: 62)
    private let fixture: TreeFixture
    private let client: TreeProcess

    init() throws {
        fixture = try TreeFixture()
        client = TreeProcess(fixture, 1)
        try client.mkdir("generic-passwords/s")
        try client.put("generic-passwords/s/a", "a secret of some bytes")
    }

    /// The blocks that `body` takes once everything is warm.
    private func count(_ body: () throws -> Void) rethrows -> Int {
        for _ in 0..<20 { try body() }
        let before = memory_allocations()
        for _ in 0..<100 { try body() }
        return Int(memory_allocations() - before) / 100
    }

    @Test("what is cached costs none, an open its descriptor, a read what the arena notes")
    func reading() throws {
        let entry = try client.entry("generic-passwords/s/a")
        let (tree, name, parent) = (fixture.tree, try client.name("a"), try client.parent("generic-passwords/s/a").node)
        var request = Request(caller: Caller(userID: 1000, groupID: 1000, processID: 1))
        let opened = try tree.open(&request, node: entry.node, flags: [])
        let reads = try count {
            try tree.read(
                &request, node: entry.node, handle: opened.handle, offset: 0, size: 4096, owner: LockOwner(rawValue: 1)
            ) { _, _ in }
        }
        #expect(reads <= Self.most.read)
        let opens = try count {
            let opened = try tree.open(&request, node: entry.node, flags: [])
            tree.release(&request, node: entry.node, handle: opened.handle)
        }
        #expect(opens <= Self.most.open)
        let status = try count { _ = try tree.getattr(&request, node: entry.node, handle: nil) }
        #expect(status <= Self.most.getattr)
        let lookups = try count {
            guard case .found(let entry) = try tree.lookup(&request, parent: parent, name: name) else { return }
            tree.forget(entry.node, count: 1)
        }
        #expect(lookups <= Self.most.lookup)
    }
}
