import FileSystemCore
import Keychain
import KeychainTesting
import SystemPackage
import Testing

@testable import KeychainTree

/// The kernel opens an inode after a lookup; the name may have been removed in between. It retries once after ESTALE,
/// so programs would see a second one.
@Suite struct UnlinkedFileTests: SingleServiceSuite {
    private let fixture: TreeFixture
    private let shell: TreeProcess
    private let api: API

    private static let allFlags: [OpenFlags] = [
        [], .writeOnly, .readWrite, [.writeOnly, .truncate], [.writeOnly, .append],
    ]

    init() throws {
        fixture = try TreeFixture()
        (shell, api) = (TreeProcess(fixture, 1), API(fixture))
        try shell.mkdir(dir)
    }

    /// Opens, and writes or reads all.
    private func use(_ node: NodeID, _ flags: OpenFlags) throws {
        let file = try shell.open(node, flags)
        if flags.isReadable && !flags.contains(.truncate) { #expect(try shell.read(file) == Array("old".utf8)) }
        if flags.isWritable { try shell.write(file, "late") }
        try shell.close(file)
    }

    @Test("F6: a lookup before an unlink still opens the unlinked file, and does not restore it")
    func unlinked() throws {
        for flags in Self.allFlags {
            try shell.put(path("a"), "old")
            let node = try shell.entry(path("a")).node
            try shell.unlink(path("a"))
            try use(node, flags)
            #expect(throws: Errno.noSuchFileOrDirectory) { try shell.stat(path("a")) }
        }
    }

    @Test("F5, F6: a lookup before a rename over the name still opens the replaced file; the new file stays")
    func replaced() throws {
        for flags in Self.allFlags {
            try shell.put(path("a"), "old")
            let node = try shell.entry(path("a")).node
            try shell.put(path("draft"), "new")
            try shell.rename(path("draft"), path("a"))
            try use(node, flags)
            #expect(try shell.cat(path("a")) == "new")
        }
    }

    @Test("S4: a directory whose row is missing is reported as damaged")
    func directoryRow() throws {
        let node = try shell.entry(dir).node
        let row = RowID(rawValue: Int64(try shell.stat(dir).inode.rawValue))
        fixture.store.records.deleteDirectory(row)
        fixture.keychain.lock()
        try fixture.tree.unlock(passphrase: TreeFixture.secret())
        #expect(throws: Errno.corrupt) {
            var request = Request(caller: Caller(userID: 1000, groupID: 1000, processID: 1))
            _ = try fixture.tree.getattr(&request, node: node, handle: nil)
        }
        #expect(KeychainFault.notAKeychain.errno == .corrupt)
        #expect(KeychainFault.staleItem.errno == .resourceBusy)
    }

    @Test("F6: an item deleted by the API has no value to open: ESTALE, so that O_CREAT creates it")
    func deleted() throws {
        try api.add(key("a"), "old")
        let node = try shell.entry(path("a")).node
        try shell.close(try shell.open(path("a")))
        try api.delete(key("a"))
        for flags in Self.allFlags {
            #expect(throws: Errno.staleNFSFileHandle) { try shell.open(node, flags) }
        }
    }

    @Test("L2: what a lock has closed or dropped is ESTALE after the unlock, not empty", arguments: [true, false])
    func locked(isPending: Bool) throws {
        try shell.put(path("a"), "old")
        let file = try shell.open(path(isPending ? "b" : "a"), [.writeOnly, .create])
        if !isPending { try shell.unlink(path("a")) }
        _ = fixture.tree.lock()
        for flags in Self.allFlags {
            #expect(throws: Errno.noKey) { try shell.open(file.node, flags) }
        }
        try fixture.tree.unlock(passphrase: try TreeFixture.secret())
        for flags in Self.allFlags {
            #expect(throws: Errno.staleNFSFileHandle) { try shell.open(file.node, flags) }
        }
        shell.release(file)
    }

    @Test("F6: an item whose secret is damaged can be unlinked, even if the kernel knows it") func damaged() throws {
        try shell.put(path("a"), "old")
        let node = try shell.entry(path("a")).node
        fixture.store.records.secrets[RowID(rawValue: Int64(try shell.stat(path("a")).inode.rawValue))] = [1]
        try shell.unlink(path("a"))
        #expect(throws: Errno.staleNFSFileHandle) { try shell.open(node, []) }
        #expect(throws: Errno.noSuchFileOrDirectory) { try shell.stat(path("a")) }
    }
}
