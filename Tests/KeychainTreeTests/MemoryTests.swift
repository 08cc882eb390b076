import FileSystemCore
import Keychain
import Synchronization
import SystemPackage
import Testing

@testable import KeychainTree

/// What the kernel forgets costs no memory any more.
@Suite struct MemoryTests {
    @Test("S5: when most of many nodes are forgotten, their memory goes back to the system")
    func massForget() throws {
        let fixture = try TreeFixture()
        let nodes = fixture.tree.table.withLock { table in
            let directory = ServiceDirectory(
                node: table.makeID(), row: RowID(rawValue: 1),
                place: ClassDirectory(group: .standard, itemClass: .genericPassword, isSynchronizable: false))
            return (0..<20_000).map { table.rememberItem(RowID(rawValue: 1000 + $0), in: directory).id }
        }
        let known = fixture.tree.table.withLock { $0.count } - nodes.count
        for node in nodes.prefix(10_000) { fixture.tree.forget(node, count: 1) }
        #expect(fixture.host.givenBack.load(ordering: .relaxed) == 0)
        for node in nodes.dropFirst(10_000) { fixture.tree.forget(node, count: 1) }
        #expect(fixture.host.givenBack.load(ordering: .relaxed) > 0)
        #expect(fixture.tree.table.withLock { $0.count } == known)
    }
}
