import Foundation
import Keychain
import LinuxSupport
import SystemPackage
import Testing

@testable import KeychainStorage

/// The write-ahead log has space for the next commits, which then only overwrite it.
@Suite struct LogPreallocationTests {
    private func grow(_ scratch: TemporaryDirectory, to size: Int) throws {
        let path = scratch["log"]
        let old = FileManager.default.contents(atPath: path) ?? Data()
        try (old + Data(repeating: 7, count: size - old.count)).write(to: URL(fileURLWithPath: path))
    }

    private func log(_ scratch: TemporaryDirectory) -> FileIdentity? {
        (try? Stat(FilePath(scratch["log"]))).map(FileIdentity.init)
    }

    @Test("made when the log has grown, and not before")
    func made() throws {
        let scratch = try TemporaryDirectory()
        var preallocation = LogPreallocation(path: scratch["log"])
        preallocation.replenish(log(scratch))
        #expect(try scratch.size(of: "log") == nil)
        try grow(scratch, to: 30_000)
        preallocation.replenish(log(scratch))
        #expect(try scratch.size(of: "log") == 30_000 + 256 * 1024)
        preallocation.replenish(log(scratch))
        #expect(try scratch.size(of: "log") == 30_000 + 256 * 1024)
        let bytes = try #require(FileManager.default.contents(atPath: scratch["log"]))
        #expect(bytes.prefix(30_000).allSatisfy { $0 == 7 } && bytes.dropFirst(30_000).allSatisfy { $0 == 0 })
    }

    @Test("as much as the log has, up to a mebibyte")
    func share() throws {
        let scratch = try TemporaryDirectory()
        var preallocation = LogPreallocation(path: scratch["log"])
        try grow(scratch, to: 400_000)
        preallocation.replenish(log(scratch))
        #expect(try scratch.size(of: "log") == 800_000)
        try grow(scratch, to: 3_000_000)
        preallocation.replenish(log(scratch))
        #expect(try scratch.size(of: "log") == 3_000_000 + 1024 * 1024)
    }

    @Test("space is preallocated again after the log was truncated")
    func emptied() throws {
        let scratch = try TemporaryDirectory()
        var preallocation = LogPreallocation(path: scratch["log"])
        try grow(scratch, to: 400_000)
        preallocation.replenish(log(scratch))
        try Data(repeating: 7, count: 5000).write(to: URL(fileURLWithPath: scratch["log"]))
        preallocation.replenish(log(scratch))
        #expect(try scratch.size(of: "log") == 5000 + 256 * 1024)
    }

    @Test(
        "A file that has replaced the log is not modified, and a FIFO does not block",
        arguments: ["file", "fifo", "link"])
    func replaced(by kind: String) throws {
        let scratch = try TemporaryDirectory()
        var preallocation = LogPreallocation(path: scratch["log"])
        try grow(scratch, to: 30_000)
        let known = log(scratch)
        try FileManager.default.moveItem(atPath: scratch["log"], toPath: scratch["moved"])
        switch kind {
        case "fifo": try run("mkfifo", [scratch["log"]])
        case "link": try FileManager.default.createSymbolicLink(atPath: scratch["log"], withDestinationPath: "moved")
        default: try grow(scratch, to: 30_000)
        }
        preallocation.replenish(known)
        preallocation.replenish(log(scratch).map { FileIdentity(device: $0.device, inode: $0.inode + 1) })
        #expect(try scratch.size(of: "moved") == 30_000)
        if kind == "file" { #expect(try scratch.size(of: "log") == 30_000) }
    }

    @Test("F4, S8: commits use the space; truncating the log removes it; a log with it opens after a crash")
    func commits() throws {
        let scratch = try TemporaryDirectory()
        let fixture = try SQLiteKeychainFixture(creating: scratch.keychain)
        defer { fixture.close() }
        try fixture.add("a", [1])
        let size = try #require(try scratch.size(of: "login.keychain-wal"))
        #expect(size > 256 * 1024)
        for account in ["b", "c", "d"] { try fixture.add(account, [1]) }
        #expect(try scratch.size(of: "login.keychain-wal") == size)
        let copy = try SQLiteKeychainFixture(crashing: fixture, scratch.keychain, copy: scratch["copy"])
        defer { copy.close() }
        for account in ["a", "b", "c", "d"] { #expect(try copy.contents(account) == [1]) }
        try fixture.store.checkpoint()
        #expect(try scratch.size(of: "login.keychain-wal") == 0)
    }
}
