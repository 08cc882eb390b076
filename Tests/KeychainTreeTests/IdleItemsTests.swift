import FileSystemCore
import Keychain
import Synchronization
import SystemPackage
import Testing

@testable import KeychainTree

/// A sparse array sets, returns and removes values at any index.
@Suite struct SparseArrayTests {
    @Test("S5: added numbers are contained, removed ones are not", arguments: [1, 31, 1_000_003] as [UInt64])
    func places(step: UInt64) {
        var array = SparseArray<Int>()
        let places = (0..<100).map { UInt64.max - 7 &+ $0 &* step }
        for (number, place) in places.enumerated() { array[place] = number }
        #expect(array.count == 100)
        for number in stride(from: 0, to: 100, by: 3) {
            #expect(array.remove(at: places[number]) == number)
            #expect(array.remove(at: places[number]) == nil)
        }
        for (number, place) in places.enumerated() { #expect(array[place] == (number % 3 == 0 ? nil : number)) }
        #expect(array.update(places[1]) { $0 += 1000 } != nil && array[places[1]] == 1001)
        #expect(array.update(places[0]) { $0 += 1000 } == nil && array[places[0]] == nil)
        array[places[1]] = nil
        var rest: [Int] = []
        array.forEach { place, number in if places[number] == place { rest.append(number) } }
        #expect(rest.sorted() == (2..<100).filter { $0 % 3 != 0 } && array.count == rest.count)
    }
}

/// Items known to the kernel get a file object when they are used, and release it.
@Suite struct IdleItemsTests: SingleServiceSuite {
    private let fixture: TreeFixture
    private let shell: TreeProcess

    init() throws {
        fixture = try TreeFixture()
        shell = TreeProcess(fixture, 1)
        try shell.mkdir(dir)
    }

    private var tree: KeychainFileSystem { fixture.tree }
    private static let firstRow: Int64 = 1_000_000

    private func makeDirectory(row: Int64 = 7) -> ServiceDirectory {
        tree.table.withLock { table in
            ServiceDirectory(
                node: table.makeID(), row: RowID(rawValue: row),
                classDirectory: ClassDirectory(group: .standard, itemClass: .genericPassword, isSynchronizable: false))
        }
    }

    /// Items that are looked up, and used.
    private func use(_ count: Int, in directory: ServiceDirectory) throws -> [NodeID] {
        let nodes = (0..<count).map { number in
            tree.table.withLock { $0.rememberItem(RowID(rawValue: Self.firstRow + Int64(number)), in: directory).id }
        }
        for node in nodes { _ = try tree.itemFile(node) }
        return nodes
    }

    private func itemNodes() -> Set<NodeID> {
        var found: Set<NodeID> = []
        tree.table.withLock { $0.allItemNodes() }.forEach { found.insert($0) }
        return found
    }

    @Test("S5: of many items that were used, few take more than an idle one; none is forgotten, none twice")
    func takenBack() throws {
        let before = tree.table.withLock { $0.count }
        let nodes = try use(20_000, in: makeDirectory())
        #expect(tree.table.withLock { $0.usedCount } <= InodeTable.leastNodes + 8)
        #expect(tree.table.withLock { $0.count } == before + nodes.count)
        #expect(Set(nodes).count == nodes.count && itemNodes() == Set(nodes))
        for (number, node) in nodes.enumerated() {
            let row = RowID(rawValue: Self.firstRow + Int64(number))
            try #require(tree.table.withLock { $0.knownItem(row)?.id } == node)
            try #require(try tree.withState(of: tree.itemFile(node)) { $0.row } == row)
        }
        for node in nodes { tree.forget(node, count: 1) }
        #expect(tree.table.withLock { $0.count } == before)
    }

    @Test("F10: the lookups of an item are counted through all that becomes of it")
    func lookups() throws {
        let directory = makeDirectory()
        let row = RowID(rawValue: Self.firstRow)
        let node = tree.table.withLock { table in
            for _ in 0..<5 { _ = table.rememberItem(row, in: directory) }
            return table.rememberItem(row, in: directory).id
        }
        _ = try use(10_000, in: directory)
        tree.forget(node, count: 3)
        _ = try tree.itemFile(node)
        tree.forget(node, count: 2)
        _ = try use(10_000, in: makeDirectory(row: 8))
        #expect(tree.table.withLock { $0.knownItem(row)?.id } == node)
        // Once for each time that it was used above.
        tree.forget(node, count: 3)
        #expect(tree.table.withLock { $0.knownItem(row) } == nil)
        #expect(throws: Errno.noSuchFileOrDirectory) { try tree.itemFile(node) }
    }

    @Test("F6: a row that goes, or comes to another file, leaves an idle item without one")
    func detached() throws {
        let directory = makeDirectory()
        let rows = (0..<2).map { RowID(rawValue: Self.firstRow + $0) }
        let nodes = rows.map { row in tree.table.withLock { $0.rememberItem(row, in: directory).id } }
        tree.table.withLock { $0.detachItem(rows[0]) }
        #expect(try tree.withState(of: tree.itemFile(nodes[0])) { $0.row } == .none)
        let file = ItemFile(
            node: tree.table.withLock { $0.makeID() }, row: RowID(rawValue: 9), directory: directory, item: nil)
        tree.table.withLock { table in
            table.add(file, as: RowID(rawValue: 9))
            table.rebind(file, from: RowID(rawValue: 9), to: rows[1])
        }
        #expect(try tree.withState(of: tree.itemFile(nodes[1])) { $0.row } == .none)
        #expect(tree.table.withLock { $0.item(rows[1]) } === file)
    }

    @Test("F5: an item is where it was looked up last, though the kernel has forgotten its directory in between")
    func sameDirectory() throws {
        let row = RowID(rawValue: Self.firstRow)
        let (first, second, other) = (makeDirectory(row: 8), makeDirectory(row: 8), makeDirectory(row: 9))
        let node = tree.table.withLock { table in
            _ = table.rememberItem(row, in: first)
            return table.rememberItem(row, in: second).id
        }
        // A stale location: the item has been moved since, and its mover has notified the tree.
        _ = tree.table.withLock { $0.rememberItem(row, in: other) }
        #expect(try tree.withState(of: tree.itemFile(node)) { $0.directory } === second)
    }

    @Test("F5, X3: an item moved by an attribute, not used since, follows its directory", arguments: [0, 9000])
    func movedByAttribute(others: Int) throws {
        try shell.put(path("x"), "X")
        let node = try shell.entry(path("x")).node
        try shell.setxattr(path("x"), "kSecAttrService", "tb")
        _ = try use(others, in: makeDirectory())
        try shell.mkdir("synchronizable/generic-passwords/other")
        try shell.rename("generic-passwords/tb", "synchronizable/generic-passwords/tb")
        let moved = "synchronizable/generic-passwords/tb/x"
        #expect(try shell.entry(moved).node == node)
        #expect(try shell.getxattr(moved, "kSecAttrSynchronizable") == "1")
        try shell.setxattr(moved, "kSecAttrAccount", "x2")
        #expect(try shell.list("synchronizable/generic-passwords/tb") == ["x2"])
        #expect(try shell.list("generic-passwords") == ["s"])
    }

    @Test("S5: new files are evicted too, when no descriptor refers to them")
    func made() throws {
        let directory = makeDirectory()
        for number in 0..<10_000 {
            let row = RowID(rawValue: Self.firstRow + Int64(number))
            tree.table.withLock { table in
                table.add(ItemFile(node: table.makeID(), row: row, directory: directory, item: nil), as: row)
            }
        }
        #expect(tree.table.withLock { $0.usedCount } <= InodeTable.leastNodes + 8)
    }

    @Test("F2, F4: open files, and files with staged data, stay while thousands of others are used")
    func held() throws {
        try shell.put(path("a"), "old")
        let (node, pending) = (try shell.entry(path("a")).node, try shell.open(path("new"), [.writeOnly, .create]))
        try shell.put(path("b"), "b")
        let other = try shell.entry(path("b")).node
        // The second is held as by an operation in progress.
        let held = (try tree.itemFile(node), try tree.itemFile(other))
        let writer = try shell.open(node, [.writeOnly, .truncate])
        try shell.write(writer, "new")
        try shell.write(pending, "first")
        _ = try use(20_000, in: makeDirectory())
        #expect(try tree.itemFile(node) === held.0 && tree.itemFile(other) === held.1)
        try shell.close(writer)
        try shell.close(pending)
        #expect(try shell.cat(path("a")) == "new" && shell.cat(path("new")) == "first")
    }
}
