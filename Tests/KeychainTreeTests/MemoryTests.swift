import FileSystemCore
import Keychain
import Synchronization
import SystemPackage
import Testing

@testable import KeychainTree

/// Inodes that the kernel has forgotten occupy no memory.
@Suite struct MemoryTests {
    @Test("S5: when most of many nodes are forgotten, their memory goes back to the system")
    func massForget() throws {
        let fixture = try TreeFixture()
        let nodes = fixture.tree.table.withLock { table in
            let directory = ServiceDirectory(
                node: table.makeID(), row: RowID(rawValue: 1),
                classDirectory: ClassDirectory(group: .standard, itemClass: .genericPassword, isSynchronizable: false))
            return (0..<20_000).map { table.rememberItem(RowID(rawValue: 1000 + $0), in: directory).id }
        }
        let known = fixture.tree.table.withLock { $0.count } - nodes.count
        for node in nodes.prefix(10_000) { fixture.tree.forget(node, count: 1) }
        #expect(fixture.host.givenBack.load(ordering: .relaxed) == 0)
        for node in nodes.dropFirst(10_000) { fixture.tree.forget(node, count: 1) }
        #expect(fixture.host.givenBack.load(ordering: .relaxed) > 0)
        #expect(fixture.tree.table.withLock { $0.count } == known)
    }

    /// In bytes, of the items that files have in memory.
    private func kept(_ fixture: TreeFixture) -> Int {
        fixture.tree.table.withLock { $0.allItems() }
            .reduce(0) { sum, file in sum + fixture.tree.withState(of: file) { $0.item?.attributeBytes ?? 0 } }
    }

    @Test("S5: long attributes stay in memory only for open files, regardless of the requests that read them")
    func longAttributes() throws {
        let fixture = try TreeFixture()
        let client = TreeProcess(fixture, 1)
        let (names, note) = ((0..<32).map { "generic-passwords/s/a\($0)" }, String(repeating: "n", count: 60_000))
        try client.mkdir("generic-passwords/s")
        for name in names {
            try client.put(name, "secret")
            try client.setxattr(name, "note", note)
        }
        // The kernel knows them all the time.
        let nodes = try names.map { try client.node($0) }
        let askers: [(String) throws -> Void] = [
            { name in
                let node = try client.node(name)
                _ = try client.ask { (request) throws(Errno) in
                    try fixture.tree.getattr(&request, node: node, handle: nil)
                }
            },
            { name in _ = try client.getxattr(name, "note") },
            { name in _ = try client.listxattr(name) },
            { name in try client.setxattr(name, "kSecAttrLabel", "l") },
            { name in try client.removexattr(name, "kSecAttrLabel") },
            { name in try client.setattr(name) { $0.permissions = 0o600 } },
            { name in _ = try client.cat(name) },
            { name in try client.rename(name, name + "x") },
            { name in try client.rename(name + "x", name) },
            { name in try client.rename(name, names[0], .exchange) },
            { name in try client.setxattr(name, "kSecAttrAccount", String(name.suffix(2)) + "y") },
        ]
        for (index, ask) in askers.enumerated() {
            for name in names.dropFirst() { try ask(name) }
            #expect(kept(fixture) < 32 << 10, "asker \(index)")
        }
        let open = try client.open(names[0])
        #expect(kept(fixture) >= 60_000)
        try client.close(open)
        #expect(kept(fixture) < 32 << 10)
        #expect(Set(nodes).count == names.count)
    }
}
