import FileSystemCore
import FileSystemTesting
import Foundation
import KeychainTesting
import SecretCrypto
import Synchronization
import SystemPackage
import Testing

@testable import KeychainTree

/// Requests that wait for an item: they announce it, others do not wait, and the kernel's order of requests is kept.
@Suite struct WaitingTests: SingleServiceSuite {
    private let fixture: TreeFixture
    private let client: TreeProcess

    init() throws {
        fixture = try TreeFixture()
        client = TreeProcess(fixture, 1)
        try client.mkdir(dir)
        for name in ["a", "b"] { try client.put(path(name), "old") }
    }

    /// Has the state of a file, as a commit in progress has, until it is released.
    private final class Holder: Sendable {
        private let released = TestSemaphore()
        private let thread: TestThread

        init(_ file: ItemFile, of tree: KeychainFileSystem) {
            let (entered, released) = (TestSemaphore(), released)
            thread = TestThread.started {
                tree.withState(of: file) { _ in
                    entered.signal()
                    released.wait()
                }
            }
            entered.wait()
        }

        func release() -> Bool {
            released.signal()
            return thread.join(seconds: 10)
        }
    }

    // MARK: Every operation

    /// An item, and descriptors of it that no other test closes.
    private struct Target: Sendable {
        let name: String
        let entry: Entry
        let reader: TreeProcess.Descriptor
        let writer: TreeProcess.Descriptor
    }

    /// One operation of the protocol, on the item.
    private struct Row: Sendable {
        let method: String
        /// Whether it needs the state of the item.
        let waits: Bool
        let body: @Sendable (TreeProcess, Target) throws -> Void

        init(_ method: String, waits: Bool = true, _ body: @escaping @Sendable (TreeProcess, Target) throws -> Void) {
            (self.method, self.waits, self.body) = (method, waits, body)
        }
    }

    private static let directory = "generic-passwords/s"
    private static func path(_ item: Target) -> String { "\(directory)/\(item.name)" }

    private static let rows: [Row] = [
        Row("lookup") { _ = try $0.stat(path($1)) },
        Row("forget", waits: false) { $0.tree.forget($1.entry.node, count: 1) },
        Row("getattr") { _ = try $0.fstat($1.reader) },
        Row("setattr") { client, item in try client.ftruncate(item.writer, 2) },
        Row("mknod", waits: false) { client, item in #expect(throws: Errno.self) { try client.mknod(path(item)) } },
        Row("mkdir", waits: false) { client, item in #expect(throws: Errno.self) { try client.mkdir(path(item)) } },
        Row("symlink", waits: false) { client, item in
            let (node, name) = try client.parent(path(item))
            #expect(throws: Errno.notPermitted) {
                try client.ask { (request) throws(Errno) in
                    try client.tree.symlink(&request, parent: node, name: name, target: [])
                }
            }
        },
        Row("link", waits: false) { client, item in
            let (node, name) = try client.parent(path(item))
            #expect(throws: Errno.notPermitted) {
                try client.ask { (request) throws(Errno) in
                    try client.tree.link(&request, node: item.entry.node, newParent: node, newName: name)
                }
            }
        },
        Row("unlink") { try $0.unlink(path($1)) },
        Row("rmdir", waits: false) { client, item in #expect(throws: Errno.self) { try client.rmdir(path(item)) } },
        Row("rename") { try $0.rename(path($1), path($1) + "-renamed") },
        Row("create", waits: false) { client, item in
            try client.close(client.open(path(item) + "-created", [.writeOnly, .create, .exclusive]))
        },
        Row("open") { client, item in _ = try client.open(item.entry.node, []) },
        Row("read") { client, item in _ = try client.read(item.writer) },
        Row("write") { client, item in try client.write(item.writer, "new") },
        Row("flush") { client, item in try client.flush(item.writer) },
        Row("fsync") { client, item in try client.fsync(item.writer) },
        Row("release") { client, item in client.release(item.reader) },
        Row("copyFileRange") { client, item in
            _ = try client.ask { (request) throws(Errno) in
                try client.tree.copyFileRange(
                    &request, from: item.entry.node, fromHandle: item.reader.opened.handle, fromOffset: 0,
                    to: item.entry.node, toHandle: item.writer.opened.handle, toOffset: 1, size: 1,
                    owner: client.owner)
            }
        },
        Row("opendir", waits: false) { client, _ in _ = try client.list(directory) },
        Row("readdir") { client, item in try listWithAttributes(client, untilFound: item.name) },
        Row("releasedir", waits: false) { client, item in
            let node = try client.node(directory)
            let handle = try client.ask { (request) throws(Errno) in try client.tree.opendir(&request, node: node) }
            try client.ask { (request) throws(Errno) in client.tree.releasedir(&request, node: node, handle: handle) }
        },
        Row("fsyncdir", waits: false) { client, _ in
            let node = try client.node(directory)
            let handle = try client.ask { (request) throws(Errno) in try client.tree.opendir(&request, node: node) }
            try client.ask { (request) throws(Errno) in
                try client.tree.fsyncdir(&request, node: node, handle: handle, dataOnly: false)
            }
        },
        Row("statfs", waits: false) { client, item in
            _ = try client.ask { (request) throws(Errno) in
                try client.tree.statfs(&request, node: item.entry.node)
            }
        },
        Row("access", waits: false) { client, item in
            #expect(throws: Errno.noFunction) {
                try client.ask { (request) throws(Errno) in
                    try client.tree.access(&request, node: item.entry.node, mask: 0)
                }
            }
        },
        Row("setxattr") { client, item in try setLabel(client, item) },
        Row("getxattr") { client, item in
            try client.ask { (request) throws(Errno) in
                _ = try? client.tree.getxattr(&request, node: item.entry.node, name: Array("user.kSecAttrLabel".utf8))
            }
        },
        Row("listxattr") { client, item in
            _ = try client.ask { (request) throws(Errno) in
                try client.tree.listxattr(&request, node: item.entry.node)
            }
        },
        Row("removexattr") { client, item in
            try client.ask { (request) throws(Errno) in
                try? client.tree.removexattr(
                    &request, node: item.entry.node, name: Array("user.kSecAttrLabel".utf8))
            }
        },
        // Called when no request is served.
        Row("destroy", waits: false) { _, _ in },
    ]

    private static func setLabel(_ client: TreeProcess, _ item: Target) throws {
        let bytes = Array("label".utf8)
        try client.ask { (request) throws(Errno) in
            try client.tree.setxattr(
                &request, node: item.entry.node, name: Array("user.kSecAttrLabel".utf8), value: bytes.rawSpan,
                flags: [])
        }
    }

    /// READDIRPLUS of the directory. Returns the entry of one item.
    @discardableResult
    private static func listWithAttributes(_ client: TreeProcess, untilFound name: String) throws -> Entry? {
        let node = try client.node(directory)
        let handle = try client.ask { (request) throws(Errno) in try client.tree.opendir(&request, node: node) }
        var sink = EntrySink(name: name)
        try client.ask { (request) throws(Errno) in
            try client.tree.readdir(&request, node: node, handle: handle, offset: 0, into: &sink)
        }
        return sink.found
    }

    private func target(_ name: String) throws -> Target {
        Target(
            name: name, entry: try client.entry(path(name)), reader: try client.open(path(name)),
            writer: try client.open(path(name), [.readWrite]))
    }

    @Test("L4: every operation on an item that is being committed announces its wait; on another item it does not wait")
    func operations() throws {
        for row in Self.rows {
            let own = try WaitingTests()
            let (fixture, a, b) = (own.fixture, try own.target("a"), try own.target("b"))
            let holder = Holder(try fixture.tree.itemFile(a.entry.node), of: fixture.tree)
            let other = WaitingThread { try? row.body(TreeProcess(fixture, 2), b) }
            // A listing has the entries of all items in it.
            if row.method != "readdir" {
                #expect(other.ends(), "\(row.method) of another item waits")
                #expect(!other.waits(seconds: 0), "\(row.method) of another item announces a wait")
            }
            let request = WaitingThread { try? row.body(TreeProcess(fixture, 2), a) }
            #expect(row.waits ? request.waits() : request.ends(), "\(row.method)")
            #expect(holder.release())
            #expect(request.ends() && other.ends(), "\(row.method) does not end")
            #expect(row.waits || !request.waits(seconds: 0), "\(row.method) announces a wait")
        }
    }

    @Test("the table of operations has a row for every method of FileSystem")
    func complete() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources/FileSystemCore/FileSystem.swift")
        let text = try String(contentsOf: file, encoding: .utf8)
        let declaration = try #require(text.split(separator: "\n}\n").first { $0.contains("protocol FileSystem") })
        let methods = declaration.matches(of: /func (\w+)\(/).map { String($0.output.1) }
        #expect(methods.count > 25)
        #expect(Set(methods) == Set(Self.rows.map(\.method)))
    }

    // MARK: The order

    @Test("F1: an OPEN that comes after a RELEASE gets its value, although both wait for the item")
    func releaseBeforeOpen() throws {
        let writer = try client.open(path("a"), [.writeOnly, .truncate])
        let node = try client.entry(path("a")).node
        try client.flush(writer)
        let holder = Holder(try fixture.tree.itemFile(node), of: fixture.tree)
        let fixture = fixture
        let release = WaitingThread { TreeProcess(fixture, 1).release(writer) }
        #expect(release.waits())
        let found = MutexBox<[UInt8]?>(nil)
        let open = WaitingThread {
            let own = TreeProcess(fixture, 2)
            guard let file = try? own.open(node, []) else { return }
            let bytes = try? own.read(file)
            found.withLock { $0 = bytes }
            own.release(file)
        }
        #expect(open.waits())
        #expect(holder.release() && release.ends() && open.ends())
        #expect(found.withLock { $0 } == [])
        #expect(try client.cat(path("a")).isEmpty)
    }

    @Test(
        "F1, F3: a LOOKUP or a listing that waits for the commit of a RELEASE returns the attributes of the new value",
        arguments: [
            { client, path in try client.entry(path).attributes },
            { client, _ in try #require(try listWithAttributes(client, untilFound: "a")).attributes },
        ] as [@Sendable (TreeProcess, String) throws -> Attributes])
    func attributesAfterRelease(_ ask: @escaping @Sendable (TreeProcess, String) throws -> Attributes) throws {
        // So that the listing is cached.
        for _ in 0..<2 { _ = try Self.listWithAttributes(client, untilFound: "a") }
        let writer = try client.open(path("a"), [.writeOnly, .truncate])
        try client.flush(writer)
        let (block, fixture, path) = (Block(), fixture, path("a"))
        fixture.store.beforeNextCommit { block.enter() }
        let release = WaitingThread { TreeProcess(fixture, 1).release(writer) }
        #expect(block.hasEntered())
        let sizes = MutexBox<[UInt64]>([])
        let request = WaitingThread {
            if let size = try? ask(TreeProcess(fixture, 2), path).size { sizes.withLock { $0.append(size) } }
        }
        #expect(request.waits())
        block.release()
        #expect(release.ends() && request.ends())
        #expect(sizes.withLock { $0 } == [0])
        // Nothing changed in the meantime: the answers are cached again.
        #expect(try ask(client, path).size == 0)
    }

    @Test("F2: a FORGET that overtakes a RELEASE leaves a pending name usable, during its commit and after it")
    func forgetDuringRelease() throws {
        let file = try client.open(path("new"), [.writeOnly, .create])
        try client.write(file, "value")
        let (block, fixture, path) = (Block(), fixture, path("new"))
        fixture.store.beforeNextCommit { block.enter() }
        // Its `forget` at the end is that of the kernel, which has the lookup of CREATE only.
        let release = WaitingThread {
            try? TreeProcess(fixture, 1).ask { request in
                fixture.tree.release(&request, node: file.node, handle: file.opened.handle)
            }
        }
        #expect(block.hasEntered())
        fixture.tree.forget(file.node, count: 1)
        let sizes = MutexBox<[UInt64]>([])
        let stat = WaitingThread {
            if let size = try? TreeProcess(fixture, 2).stat(path).size { sizes.withLock { $0.append(size) } }
        }
        #expect(stat.waits())
        block.release()
        #expect(release.ends() && stat.ends())
        #expect(sizes.withLock { $0 } == [5])
        #expect(try client.cat(path) == "value")
        #expect(throws: Errno.noSuchFileOrDirectory, "the node remains") { try fixture.tree.node(file.node) }
    }

    /// Renames a name while a descriptor is released: both wait for its file, the rename first, for the lookup of the name.
    ///
    /// - Returns: The error of the rename.
    private func rename(_ from: String, to: String, during file: TreeProcess.Descriptor) throws -> Errno? {
        let holder = Holder(try fixture.tree.itemFile(file.node), of: fixture.tree)
        let (fixture, from, to) = (fixture, path(from), path(to))
        let error = MutexBox<Errno?>(nil)
        let rename = WaitingThread {
            do throws(Errno) {
                try TreeProcess(fixture, 2).rename(from, to)
            } catch let found {
                error.withLock { $0 = found }
            }
        }
        #expect(rename.waits())
        let release = WaitingThread { TreeProcess(fixture, 1).release(file) }
        #expect(release.waits())
        #expect(holder.release() && rename.ends() && release.ends())
        return error.withLock { $0 }
    }

    @Test("F2, F5: a rename that waits for an item whose creation is dropped fails with ENOENT and creates nothing")
    func renameDuringDrop() throws {
        for target in ["renamed", "a"] {
            // Its process was killed, so its RELEASE drops it.
            let file = try client.open(path("new"), [.writeOnly, .create])
            try client.write(file, "half")
            let reader = try client.open(path("new"))
            fixture.host.dying.withLock { _ = $0.insert(1) }
            try client.flush(file)
            #expect(try rename("new", to: target, during: file) == .noSuchFileOrDirectory)
            #expect(try client.list(dir) == ["a", "b"])
            #expect(try client.cat(path("a")) == "old")
            client.release(reader)
        }
    }

    @Test("F2, F5: a rename over a name whose creation is dropped during the wait gives the name to the source")
    func renameOverDrop() throws {
        let file = try client.open(path("new"), [.writeOnly, .create])
        #expect(try rename("a", to: "new", during: file) == nil)
        #expect(try client.cat(path("new")) == "old")
        #expect(try client.list(dir).sorted() == ["b", "new"])
    }

    @Test("F6: an unlink that waits for the first commit of an item removes the item")
    func unlinkDuringFirstCommit() throws {
        let file = try client.open(path("new"), [.writeOnly, .create])
        try client.write(file, "value")
        let (block, fixture, path) = (Block(), fixture, path("new"))
        fixture.store.beforeNextCommit { block.enter() }
        let close = WaitingThread { try? TreeProcess(fixture, 1).close(file) }
        #expect(block.hasEntered())
        let error = MutexBox<Errno?>(nil)
        let unlink = WaitingThread {
            do throws(Errno) {
                try TreeProcess(fixture, 2).unlink(path)
            } catch let found {
                error.withLock { $0 = found }
            }
        }
        #expect(unlink.waits())
        block.release()
        #expect(close.ends() && unlink.ends())
        #expect(error.withLock { $0 } == nil)
        #expect(throws: Errno.noSuchFileOrDirectory) { try client.stat(path) }
        #expect(try client.list(dir) == ["a", "b"])
    }
}

/// Accepts entries with attributes until one has the name.
private struct EntrySink: DirectorySink {
    let name: String
    let wantsEntries = true
    private(set) var found: Entry?

    init(name: String) { self.name = name }

    mutating func add(_ name: EntryName, inode: InodeNumber, type: FileSystemCore.FileType, offset: UInt64) -> Bool {
        true
    }

    mutating func add(_ name: EntryName, entry: Entry, offset: UInt64) -> Bool {
        if name.bytes == Array(self.name.utf8) { found = entry }
        return true
    }
}
