import FileSystemCore
import FileSystemTesting
import Glibc
import SystemPackage
import Testing

/// Every operation, there and back, on all back ends.
@Suite struct RoundTripTests {
    @Test(arguments: BackEnd.allCases) func contents(_ backEnd: BackEnd) throws {
        let fileSystem = MemoryFileSystem()
        try backEnd.run(fileSystem) { client in
            let long = (0..<400_000).map { UInt8(truncatingIfNeeded: $0 ^ ($0 >> 8)) }
            try client.put("/a", long)
            #expect(try client.contents("/a") == long)
            let file = try client.open("/a", [.readWrite])
            #expect(try client.pread(file, 10, at: 131_070) == Array(long[131_070..<131_080]))
            try client.pwrite(file, [1, 2, 3], at: 5)
            try client.ftruncate(file, 7)
            try client.fsync(file, dataOnly: true)
            try client.fsync(file)
            #expect(try client.fstat(file).size == 7)
            #expect(try client.readAll(file) == Array(long[..<5]) + [1, 2])
            try client.close(file)
            try client.truncate("/a", 3)
            let end = try client.open("/a", [.writeOnly, .append])
            try client.write(end, Array("xyz".utf8))
            try client.close(end)
            #expect(try client.contents("/a") == Array(long[..<3]) + Array("xyz".utf8))
            #expect(fileSystem.calls.contains("fsync true") && fileSystem.calls.contains("fsync false"))
            // The kernel sends RELEASE after close(2) returns, and drops what it has not sent when the file system is unmounted.
            #expect(eventually { fileSystem.openFiles == 0 })
        }
        #expect(eventually { backEnd == .mounted || fileSystem.lookups == 0 })
        #expect(!fileSystem.calls.contains("forgot too much") && !fileSystem.calls.contains("released twice"))
        #expect(backEnd == .inProcess || fileSystem.state.withLock { $0.destroyed } == 1)
    }

    @Test(arguments: BackEnd.allCases) func names(_ backEnd: BackEnd) throws {
        try backEnd.run { client in
            try client.mkdir("/d", mode: 0o750)
            #expect(try client.stat("/d").permissions == 0o750)
            try client.mknod("/d/n", .regular, mode: 0o640)
            #expect(try client.stat("/d/n").permissions == 0o640)
            #expect(client.errno { c throws(Errno) in try c.mknod("/d/p", .fifo, mode: 0o600) } == .notPermitted)
            #expect(client.errno { c throws(Errno) in try c.symlink("t", at: "/d/s") } == .notPermitted)
            #expect(client.errno { c throws(Errno) in try c.link("/d/n", at: "/d/l") } == .notPermitted)
            try client.put("/d/ä\n%", "1")
            #expect(try client.list("/d") == ["n", "ä\n%"])
            #expect(client.errno { c throws(Errno) in try c.rmdir("/d") } == .directoryNotEmpty)
            try client.rename("/d/n", "/m")
            #expect(try client.list("/").sorted() == ["d", "m"])
            try client.put("/o", "2")
            #expect(client.errno { c throws(Errno) in try c.rename("/o", "/m", .noReplace) } == .fileExists)
            try client.rename("/o", "/d/ä\n%", .exchange)
            #expect(try client.text("/o") == "1")
            #expect(try client.text("/d/ä\n%") == "2")
            try client.rename("/o", "/m")
            #expect(try client.text("/m") == "1")
            try client.unlink("/m")
            try client.unlink("/d/ä\n%")
            try client.rmdir("/d")
            #expect(try client.list("/").isEmpty)
            #expect(client.errno { c throws(Errno) in _ = try c.stat("/m") } == .noSuchFileOrDirectory)
            let long = "/" + String(repeating: "n", count: 256)
            #expect(client.errno { c throws(Errno) in try c.put(long, "") } == .fileNameTooLong)
        }
    }

    @Test(arguments: BackEnd.allCases) func attributes(_ backEnd: BackEnd) throws {
        try backEnd.run { client in
            try client.put("/a", "123")
            try client.chmod("/a", 0o4711)
            // Only root gives a file away.
            let (user, group) = geteuid() == 0 ? (12, 34) : (geteuid(), getegid())
            try client.chown("/a", user: user, group: nil)
            try client.chown("/a", user: nil, group: group)
            let time = Timestamp(seconds: -5, nanoseconds: 999_999_999)
            try client.setTimes("/a", access: .at(time), modification: nil)
            try client.setTimes("/a", access: nil, modification: .now)
            let status = try client.stat("/a")
            #expect(status.permissions & 0o777 == 0o711)
            #expect(status.userID == user && status.groupID == group && status.size == 3 && status.linkCount == 1)
            #expect(status.accessTime == time && status.modificationTime.seconds == 2_000_000_000)
            #expect(status.inode.rawValue > 1000 && status.type == .regular)
            let statistics = try client.statistics("/")
            #expect(statistics.blockSize == 4096 && statistics.blocks == 1000 && statistics.availableBlocks == 500)
            #expect(statistics.files == 70 && statistics.freeFiles == 60 && statistics.maximumNameLength == 255)
        }
    }

    @Test(arguments: BackEnd.allCases) func extendedAttributes(_ backEnd: BackEnd) throws {
        try backEnd.run { client in
            try client.put("/a", "")
            #expect(try client.listxattr("/a") == [])
            #expect(client.errno { c throws(Errno) in _ = try c.getxattr("/a", "user.x") }?.rawValue == 61)
            try client.setxattr("/a", "user.x", "value")
            try client.setxattr("/a", "user.empty", "")
            try client.setxattr("/a", "user.y", [0, 255, 10], .create)
            #expect(client.errno { c throws(Errno) in try c.setxattr("/a", "user.y", [], .create) } == .fileExists)
            #expect(client.errno { c throws(Errno) in try c.setxattr("/a", "user.z", [], .replace) }?.rawValue == 61)
            #expect(try client.getxattr("/a", "user.x") == Array("value".utf8))
            #expect(try client.getxattr("/a", "user.y") == [0, 255, 10])
            #expect(try client.getxattr("/a", "user.empty") == [])
            #expect(try client.listxattr("/a") == ["user.empty", "user.x", "user.y"])
            let large = [UInt8](repeating: 7, count: 60_000)
            try client.setxattr("/a", "user.x", large, [])
            #expect(try client.getxattr("/a", "user.x") == large)
            try client.removexattr("/a", "user.x")
            #expect(client.errno { c throws(Errno) in try c.removexattr("/a", "user.x") }?.rawValue == 61)
        }
    }

    @Test(arguments: BackEnd.allCases) func copyRange(_ backEnd: BackEnd) throws {
        let fileSystem = MemoryFileSystem()
        try backEnd.run(fileSystem) { client in
            try client.put("/a", "0123456789")
            try client.put("/b", "")
            let from = try client.open("/a", [])
            let to = try client.open("/b", [.readWrite])
            #expect(try client.copyRange(from: from, at: 2, to: to, at: 1, count: 5) == 5)
            try client.close(from)
            try client.close(to)
            #expect(try client.text("/b") == "\u{0}23456")
            #expect(fileSystem.count("copy") == 1)
        }
    }

    @Test(arguments: BackEnd.allCases) func longListing(_ backEnd: BackEnd) throws {
        let fileSystem = MemoryFileSystem()
        try backEnd.run(fileSystem) { client in
            let names = (0..<1000).map { "name-\($0)" }
            for name in names { _ = try fileSystem.make(.root, #require(EntryName(name)), .regular, 0o600) }
            let read = try client.readDirectory("/")
            #expect(read.error == nil)
            #expect(read.names == names)
            #expect(read.types.values.allSatisfy { $0 == .regular })
            #expect(fileSystem.count("readdirplus") > 0)
        }
        #expect(eventually { backEnd == .mounted || fileSystem.lookups == 0 })
    }

    @Test("L1: a listing gives its entries and then its error", arguments: BackEnd.allCases)
    func listingThatFails(_ backEnd: BackEnd) throws {
        let fileSystem = MemoryFileSystem()
        try backEnd.run(fileSystem) { client in
            for name in ["a", "b", "c"] { try client.put("/" + name, "") }
            fileSystem.script.withLock { $0.listError = (2, Errno(rawValue: 126)) }
            let read = try client.readDirectory("/")
            #expect(read.names == ["a", "b"])
            #expect(read.error == Errno(rawValue: 126))
        }
    }
}
