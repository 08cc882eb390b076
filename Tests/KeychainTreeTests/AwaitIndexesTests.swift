import FileSystemCore
import FileSystemTesting
import KeychainTesting
import SystemPackage
import Testing

@testable import Keychain
@testable import KeychainTree

/// Requests that wait until the indexes have been compared with the rows, and requests that do not.
@Suite("S2, L1: waiting for the indexes")
struct AwaitIndexesTests: SingleServiceSuite {
    /// A request, and the file that is opened before the comparison begins.
    struct Operation: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var flags: OpenFlags?
        var file = "new"
        let run: @Sendable (TreeProcess, TreeProcess.Descriptor?) throws -> Void

        init(
            _ name: String, opening file: String = "new", _ flags: OpenFlags? = nil,
            _ run: @escaping @Sendable (TreeProcess, TreeProcess.Descriptor?) throws -> Void
        ) {
            (testDescription, self.file, self.flags, self.run) = (name, file, flags, run)
        }
    }

    private static let service = "generic-passwords/s"
    private static let new: OpenFlags = [.writeOnly, .create]
    private static let synchronous: OpenFlags = [.readWrite, .create, .sync]

    /// They add a name or remove a directory.
    static let addingNames = [
        Operation("mkdir") { client, _ in try client.mkdir("generic-passwords/t") },
        Operation("mknod") { client, _ in try client.mknod("\(service)/b") },
        Operation("rmdir") { client, _ in try client.rmdir("generic-passwords/empty") },
        Operation("rename") { client, _ in try client.rename("\(service)/old", "\(service)/b") },
        Operation("flush of a new file", new) { client, file in try client.flush(#require(file)) },
        Operation("fsync of a new file", new) { client, file in try client.fsync(#require(file)) },
        Operation("synchronous write of a new file", synchronous) { client, file in
            try client.write(#require(file), "x")
        },
        Operation("copy into a new synchronous file", synchronous) { client, file in
            let (target, source) = (try #require(file), try client.open("\(service)/old"))
            _ = try client.ask { (request) throws(Errno) in
                try client.tree.copyFileRange(
                    &request, from: source.node, fromHandle: source.opened.handle, fromOffset: 0, to: target.node,
                    toHandle: target.opened.handle, toOffset: 0, size: 3, owner: client.owner)
            }
        },
    ]

    /// They rely on no absent name.
    static let others = [
        Operation("look-up of an absent name") { client, _ in
            #expect(throws: Errno.noSuchFileOrDirectory) { try client.stat("\(service)/never") }
        },
        Operation("listing") { client, _ in
            let names = try client.list(service)
            #expect(names == ["old"])
        },
        Operation("read") { client, _ in
            let text = try client.cat("\(service)/old")
            #expect(text == "old")
        },
        Operation("create") { client, _ in _ = try client.open("\(service)/b", new) },
        Operation("write of a new file", new) { client, file in try client.write(#require(file), "x") },
        Operation("flush of an existing file", opening: "old", [.writeOnly]) { client, file in
            try client.flush(#require(file))
        },
        Operation("synchronous write of an existing file", opening: "old", [.writeOnly, .sync]) { client, file in
            try client.write(#require(file), "x")
        },
        Operation("unlink") { client, _ in try client.unlink("\(service)/old") },
        Operation("truncate") { client, _ in try client.setattr("\(service)/old") { $0.size = 1 } },
    ]

    private let fixture: TreeFixture
    private let client: TreeProcess

    init() throws {
        fixture = try TreeFixture()
        client = TreeProcess(fixture, 1)
        try client.mkdir(Self.service)
        try client.mkdir("generic-passwords/empty")
        try client.put(path("old"), "old")
    }

    private var verification: Verification { fixture.keychain.keys.verification }

    /// Runs an operation while the state of the indexes is `trust`, until `result` is known.
    ///
    /// - Returns: Whether it waited, and its error.
    private func run(
        _ operation: Operation, while trust: IndexTrust = .unknown, duringRead: IndexTrust? = nil,
        until result: IndexTrust
    ) throws -> (waited: Bool, error: Errno?) {
        let file = try operation.flags.map { try client.open(path(operation.file), $0) }
        if let file, !file.flags.isSynchronous { try client.write(file, "x") }
        fixture.keychain.expectVerification()
        verification.finishIndexes(trust)
        if let duringRead {
            fixture.store.duringNextRead { [verification] in verification.finishIndexes(duringRead) }
        }
        let (fixture, verification, error) = (fixture, verification, MutexBox<Errno?>(nil))
        let thread = TestThread.started {
            do { try operation.run(TreeProcess(fixture, 1), file) } catch let caught {
                error.withLock { $0 = caught as? Errno ?? .ioError }
            }
        }
        while !verification.hasWaiters, !thread.join(seconds: 0.001) {}
        let waited = verification.hasWaiters
        verification.finishIndexes(result)
        #expect(thread.join(seconds: 10))
        return (waited, error.withLock { $0 })
    }

    @Test("a request that adds a name or removes a directory waits, and succeeds", arguments: addingNames)
    func waits(_ operation: Operation) throws {
        let (waited, error) = try run(operation, until: .consistent)
        #expect(waited)
        #expect(error == nil)
    }

    @Test("it fails with EBADMSG if the indexes turn out to be wrong", arguments: addingNames)
    func refused(_ operation: Operation) throws {
        let (waited, error) = try run(operation, until: .wrong)
        #expect(waited)
        #expect(error == .corrupt)
    }

    @Test("no other request waits", arguments: others)
    func doesNotWait(_ operation: Operation) throws {
        let (waited, error) = try run(operation, until: .consistent)
        #expect(!waited)
        #expect(error == nil)
    }

    @Test("an attribute that may be a part of the name waits")
    func attribute() throws {
        let operation = Operation("setxattr") { client, _ in
            try client.setxattr("\(Self.service)/old", "kSecAttrLabel", "label")
        }
        let (waited, error) = try run(operation, until: .consistent)
        #expect(waited && error == nil)
    }

    @Test("L1: during a rebuild look-ups of absent names, listings and creations wait; afterwards they succeed")
    func rebuild() throws {
        for operation in Self.others.prefix(4) {
            let (waited, error) = try run(operation, while: .rebuilding, until: .consistent)
            #expect(waited == (operation.testDescription != "read"), "\(operation)")
            #expect(error == nil, "\(operation)")
        }
    }

    @Test(
        "L1: a rebuild that begins during a look-up, a creation or a removal is waited for, and the name is looked up again"
    )
    func rebuildDuringRequest() throws {
        let absent = Operation("removal of an absent name") { client, _ in
            #expect(throws: Errno.noSuchFileOrDirectory) { try client.unlink("\(Self.service)/never") }
        }
        for operation in [Self.others[0], Self.others[3], absent] {
            let (waited, error) = try run(operation, duringRead: .rebuilding, until: .consistent)
            #expect(waited, "\(operation)")
            #expect(error == nil, "\(operation)")
        }
    }

    @Test("L1: during a rebuild that takes longer than the wait no name is reported as absent")
    func longRebuild() throws {
        verification.finishIndexes(.rebuilding)
        #expect(throws: Errno.corrupt) { try client.stat(path("never")) }
        #expect(throws: Errno.corrupt) { try client.list(Self.service) }
        #expect(throws: Errno.corrupt) { try client.put(path("b"), "x") }
        #expect(try client.cat(path("old")) == "old")
    }

    @Test("after a rebuild a known file has the name that the rebuild gave to its item")
    func renamedItem() throws {
        let file = try client.open(path("old"))
        let row = RowID(rawValue: Int64(try client.stat(path("old")).inode.rawValue))
        try fixture.keychain.change { change throws(KeychainFault) in
            guard var item = try change.item(id: row) else { throw .itemNotFound }
            item.account = .string("old~2")
            _ = try change.save(item)
        }
        #expect(!fixture.tree.forgetNames().isEmpty)
        let account = try client.ask { (request) throws(Errno) in
            try fixture.tree.getxattr(&request, node: file.node, name: Array("user.kSecAttrAccount".utf8))
        }
        #expect(String(decoding: account, as: UTF8.self) == "old~2")
    }
}
