import FileSystemCore
import FileSystemTesting
import Keychain
import KeychainTesting
import SecretCrypto
import Synchronization
import SystemPackage
import Testing

@testable import KeychainTree

/// Staged values, open values, requests and answers have a memory limit, in total and for each other user (contract, F9).
@Suite struct MemoryLimitTests: SingleServiceSuite {
    private let service = FakeService()
    private let fixture: TreeFixture
    private let client: TreeProcess
    private let other: TreeProcess
    /// Bytes; more than the uncharged minimum.
    private let long = 100_000
    private static let limit = 2 << 20

    init() throws {
        fixture = try TreeFixture(stagedLimit: Self.limit, requests: service)
        (client, other) = (TreeProcess(fixture, 1), TreeProcess(fixture, 2))
        other.userID = 2000
        try client.mkdir(dir)
    }

    private var used: Int { fixture.tree.memory.used }

    private func value(_ count: Int, _ byte: UInt8 = 7) -> [UInt8] { [UInt8](repeating: byte, count: count) }

    private func make(_ name: String, _ count: Int) throws {
        let file = try client.open(path(name), [.writeOnly, .create])
        try client.write(file, bytes: value(count))
        try client.close(file)
    }

    /// Opens files and writes to them until the limit is reached.
    private func fill(_ process: TreeProcess, _ prefix: String) throws -> [TreeProcess.Descriptor] {
        var files: [TreeProcess.Descriptor] = []
        while files.count < 100 {
            files.append(try process.open(path("\(prefix)\(files.count)"), [.readWrite, .create]))
            do throws(Errno) {
                try process.write(files[files.count - 1], bytes: value(long))
            } catch {
                #expect(error == .noSpace)
                return files
            }
        }
        throw Errno.tooManySymbolicLinkLevels
    }

    @Test("F9: another user gets ENOSPC at a quarter; the mounting user's data still commits, and takes the rest")
    func users() throws {
        let own = try client.open(path("own"), [.writeOnly, .create])
        try client.write(own, bytes: value(long))
        let files = try fill(other, "other")
        #expect(files.count == Self.limit / 4 / long)
        #expect(throws: Errno.noSpace) { try other.flush(files[files.count - 1]) }
        try client.close(own)
        #expect(try client.stat(path("own")).size == UInt64(long))
        let clientFiles = try fill(client, "mine")
        #expect(clientFiles.count > Self.limit / 4 * 3 / long / 2)
        // A commit needs no additional memory.
        for (process, files) in [(other, files), (client, clientFiles)] {
            for file in files.dropLast() { try process.close(file) }
            #expect(throws: Errno.noSpace) { try process.close(files[files.count - 1]) }
        }
        #expect(try client.stat(path("mine0")).size == UInt64(long))
        #expect(used == 0)
    }

    @Test("F9: writes of a setuid program to another user's descriptor are charged to the user who opened it")
    func opener() throws {
        let file = try other.open(path("a"), [.writeOnly, .create])
        other.userID = 0
        #expect(throws: Errno.noSpace) { try other.write(file, bytes: value(Self.limit / 4)) }
        try? other.close(file)
        #expect(used == 0)
    }

    @Test("F3: descriptors for reading an uncommitted value share its memory, and keep it as it was")
    func readers() throws {
        let file = try client.open(path("a"), [.writeOnly, .create])
        try client.write(file, bytes: value(long))
        let before = used
        let readers = try (0..<200).map { _ in try client.open(path("a")) }
        #expect(used == before)
        try client.write(file, bytes: value(long, 8))
        #expect(try readers.allSatisfy { try client.read($0) == value(long) })
        for reader in readers { try client.close(reader) }
        try client.close(file)
        #expect(used == 0)
    }

    @Test(
        "F9: descriptors of long values are charged once for each value; ENOMEM beyond the limit, short ones always open"
    )
    func openValues() throws {
        let names = (0..<8).map { "long\($0)" }
        for name in names { try make(name, long) }
        try make("short", 60_000)
        var files = try (0..<50).map { _ in try other.open(path(names[0])) }
        #expect((long...long * 2).contains(used))
        while let file = try? other.open(path(names[files.count - 49])) { files.append(file) }
        #expect((53...54).contains(files.count))
        #expect(throws: Errno.noMemory) { try other.open(path(names[7])) }
        #expect(throws: Errno.noMemory) { try other.open(path(names[7]), [.readWrite]) }
        // Of the mounting user: for another one each value counts that is longer than a password.
        try make("password", 4000)
        #expect(throws: Errno.noMemory) {
            while files.count < 100 {
                try make("short", 60_000)
                files.append(try other.open(path("short")))
            }
        }
        files.append(try other.open(path("password")))
        files.append(try client.open(path("short")))
        files.append(try client.open(path(names[7])))
        for file in files { try other.close(file) }
        #expect(used == 0)
    }

    @Test(
        "F9: a write to a long item beyond the limit fails with ENOSPC; truncating the item works, and releases memory")
    func existing() throws {
        try make("a", long)
        let file = try other.open(path("a"), [.readWrite])
        let files = try fill(other, "other")
        #expect(throws: Errno.noSpace) { try other.write(file, bytes: [1]) }
        try other.ftruncate(file, 0)
        try other.close(file)
        #expect(try client.stat(path("a")).size == 0)
        for file in files { try? other.close(file) }
        #expect(used == 0)
    }

    @Test("L2: a lock releases charges, even of open files")
    func locks() throws {
        try make("a", long)
        try make("gone", long)
        let staged = try client.open(path("new"), [.readWrite, .create])
        try client.write(staged, bytes: value(long))
        try client.setxattr(path("new"), "note", String(repeating: "n", count: 50_000))
        let files = [
            staged, try client.open(path("new")), try client.open(path("a")), try client.open(path("a"), [.readWrite]),
            try client.open(path("gone")), try client.open(".keychainfs/rpc", [.readWrite]),
        ]
        try client.unlink(path("gone"))
        try client.write(files[5], "?09abc")
        #expect(used > 3 * long + 50_000)
        _ = fixture.tree.lock()
        #expect(used == 0)
        for file in files { #expect(throws: Errno.noKey) { try client.read(file) } }
        try fixture.tree.unlock(passphrase: TreeFixture.secret())
        for file in files { try? client.close(file) }
        #expect(used == 0)
    }

    private func staged(_ end: (TreeProcess.Descriptor) throws -> Void) throws {
        let file = try client.open(path("b"), [.readWrite, .create])
        try client.write(file, bytes: value(long))
        try end(file)
        #expect(used == 0)
    }

    @Test("F9: every way in which a staged value ends releases it")
    func ends() throws {
        try make("a", long)
        // Abandoned: its process is killed.
        try staged { file in
            fixture.host.dying.withLock { _ = $0.insert(1) }
            try client.close(file)
            fixture.host.dying.withLock { $0 = [] }
        }
        // Unlinked before its first commit, while another process reads it.
        try staged { file in
            let reader = try client.open(path("b"))
            try client.unlink(path("b"))
            try client.close(file)
            #expect(try client.read(reader).count == long)
            try client.close(reader)
        }
        // A commit that fails.
        try staged { file in
            fixture.store.failNextWrite(with: .io(1))
            #expect(throws: Errno.ioError) { try client.close(file) }
        }
        // Truncated, then replaced by a rename while another process has it open.
        try staged { file in
            let reader = try client.open(path("a"))
            try client.ftruncate(file, 10)
            try client.rename(path("b"), path("a"))
            #expect(try client.read(reader).count == long)
            try client.close(file)
            try client.close(reader)
        }
        // Another class.
        try staged { file in
            try client.setxattr(path("b"), "kSecAttrAccessible", "kSecAttrAccessibleAlways")
            try client.close(file)
        }
    }

    @Test("F9: attributes of pending names are charged; ENOSPC beyond the limit")
    func attributes() throws {
        var files: [TreeProcess.Descriptor] = []
        let note = String(repeating: "n", count: 60_000)
        func add() throws {
            let name = path("a\(files.count)")
            files.append(try other.open(name, [.writeOnly, .create]))
            try other.setxattr(name, "note", note)
        }
        for _ in 0..<8 { try add() }
        #expect(throws: Errno.noSpace) { try add() }
        #expect(used > 8 * 60_000)
        try other.removexattr(path("a0"), "note")
        for file in files { try other.close(file) }
        #expect(try client.getxattr(path("a1"), "note") == note)
        #expect(used == 0)
    }

    @Test("F9: a full share of another user who has an item open takes nothing from the mounting user")
    func others() throws {
        try client.put(path("a"), "x")
        try client.setxattr(path("a"), "kSecAttrAccessible", "kSecAttrAccessibleWhenUnlockedUnlessOpen")
        let file = try client.open(path("a"), [.readWrite])
        let pending = try client.open(path("pending"), [.writeOnly, .create])
        let files = try fill(other, "other")
        let readers = [try other.open(path("a")), try other.open(path("pending"))]
        try client.setxattr(path("pending"), "note", String(repeating: "n", count: 60_000))
        try client.write(file, bytes: value(long))
        try client.fsync(file)
        try client.close(pending)
        _ = fixture.tree.lock()
        #expect(try client.read(file) == value(long))
        // Encrypts the item again with the value that its file keeps.
        try client.ask { (request) throws(Errno) in
            try fixture.tree.setxattr(
                &request, node: file.node, name: Array("user.kSecAttrLabel".utf8), value: Array("l".utf8).rawSpan,
                flags: [])
        }
        try fixture.tree.unlock(passphrase: TreeFixture.secret())
        for file in files + readers { try? other.close(file) }
        try client.close(file)
        #expect(used == 0)
    }

    @Test("F9: the value that an open file retains during a lock is charged to the user who has it open")
    func keptValues() throws {
        try client.setxattr(dir, "kSecAttrAccessible", "kSecAttrAccessibleWhenUnlockedUnlessOpen")
        try make("a", long)
        let opened = try other.open(path("a"), [.writeOnly, .truncate])
        #expect(used >= long)
        try other.close(opened)
        // Staged and kept: two values fewer can be staged.
        let created = try other.open(path("b"), [.writeOnly, .create])
        try other.write(created, bytes: value(long))
        try other.fsync(created)
        let files = try fill(other, "other")
        #expect(files.count == 3)
        for file in files + [created] { try? other.close(file) }
        #expect(used == 0)
    }

    @Test("F5: attributes of a pending name are charged until they are committed or its item belongs to another name")
    func removedAttributes() throws {
        let note = String(repeating: "n", count: 60_000)
        for isCommitted in [true, false] {
            let name = isCommitted ? "a" : "b"
            let file = try client.open(path(name), [.writeOnly, .create])
            // The kernel knows the name all the time.
            let node = try client.node(path(name))
            try client.setxattr(path(name), "note", note)
            if isCommitted {
                try client.fsync(file)
                #expect(used == 0)
            } else {
                try API(fixture).add(key(name), "api")
                #expect(used >= 60_000)
                fixture.host.dying.withLock { _ = $0.insert(1) }
            }
            try client.close(file)
            #expect(used == 0)
            fixture.tree.forget(node, count: 1)
        }
    }

    @Test("F6: attributes of files that lost their name are charged to who took it; the mounting user always can")
    func detachedAttributes() throws {
        let note = String(repeating: "n", count: 60_000)
        var files: [TreeProcess.Descriptor] = []
        func open() throws {
            try client.put(path("a"), "x")
            try client.setxattr(path("a"), "note", note)
            files.append(try other.open(path("a")))
        }
        for _ in 0..<8 {
            try open()
            try other.unlink(path("a"))
        }
        try open()
        #expect(throws: Errno.noMemory) { try other.unlink(path("a")) }
        try client.put(path("b"), "y")
        #expect(throws: Errno.noMemory) { try other.rename(path("b"), path("a")) }
        #expect(try client.cat(path("a")) == "x")
        try holding(Self.limit) { try client.unlink(path("a")) }
        for file in files { try other.close(file) }
        #expect(used == 0)
    }

    @Test("F6: an item that another user has truncated without memory for its value can be deleted")
    func detachedValues() throws {
        try make("a", long)
        let file = try other.open(path("a"), [.readWrite, .truncate])
        let files = try fill(other, "other")
        try other.unlink(path("a"))
        #expect(try other.read(file).isEmpty)
        for file in files + [file] { try? other.close(file) }
        #expect(used == 0)
    }

    @Test("L2: a descriptor that is opened after a lock keeps its value when those from before are emptied")
    func emptied() throws {
        try client.put(path("a"), "secret")
        let before = try client.open(path("a"))
        _ = fixture.tree.lock()
        try fixture.tree.unlock(passphrase: TreeFixture.secret())
        let after = try client.open(path("a"))
        fixture.tree.table.withLock { $0.emptyClosedHandles() }
        #expect(try client.read(after) == Array("secret".utf8))
        #expect(throws: Errno.noKey) { try client.read(before) }
        for file in [before, after] { try client.close(file) }
    }

    /// Runs `body` while that many bytes are charged to another user.
    private func holding(_ bytes: Int, _ body: () throws -> Void) throws {
        let charge = fixture.tree.memory.share(of: 0).force(bytes)
        try body()
        withExtendedLifetime(charge) {}
    }

    @Test("§9: requests and responses are charged: ENOSPC for bytes of a request, ENOMEM for unread responses")
    func requests() throws {
        let file = try client.open(".keychainfs/rpc", [.readWrite])
        try client.write(file, "?04abcd")
        #expect(used > 0)
        _ = try client.read(file, size: 1)
        #expect(used > 0)
        let second = try client.open(".keychainfs/rpc", [.readWrite])
        try holding(Self.limit) {
            #expect(throws: Errno.noSpace) { try client.write(second, "?01x") }
        }
        try client.close(file)
        #expect(used == 0)
        try client.write(second, "?01x")
        try holding(Self.limit + Self.limit / 8) {
            #expect(throws: Errno.noMemory) { try client.read(second) }
        }
        #expect(String(decoding: try client.read(second), as: UTF8.self) == "xx")
        try client.close(second)
        #expect(used == 0)
    }
}
