import FileSystemCore
import FileSystemTesting
import Keychain
import KeychainTree
import SystemPackage
import Testing

/// A suite with three back ends: a program sees the same results in process, over libfuse, and on a real mount.
@Suite(.serialized) struct ConformanceTests {
    private let dir = Fixture.directory

    private func path(_ name: String) -> String { "\(dir)/\(name)" }

    @Test("T1-T5: the tree", arguments: BackEnd.available)
    func tree(_ backEnd: BackEnd) throws {
        try backEnd.run { client, _ in
            let folders = ["generic-passwords", "internet-passwords", "synchronizable", "access-groups"]
            #expect(try client.list("/") == folders)
            #expect(client.exists("/.keychainfs/status"))
            try client.put(path("a%2Fb"), "x")
            #expect(try client.getxattr(path("a%2Fb"), "user.kSecAttrAccount") == Array("a/b".utf8))
            #expect(client.errno { client throws(Errno) in try client.put(path("%41"), "") } == .invalidArgument)
            #expect(client.errno { client throws(Errno) in try client.put("/x", "") } == .notPermitted)
            #expect(client.errno { client throws(Errno) in try client.mkdir(path("d")) } == .notPermitted)
            #expect(client.errno { client throws(Errno) in try client.symlink("t", at: path("l")) } == .notPermitted)
            #expect(
                client.errno { client throws(Errno) in try client.mknod(path("p"), .fifo, mode: 0o600) }
                    == .notPermitted)
            try client.mknod(path("n"), .regular, mode: 0o600)
            #expect(try client.stat(path("n")).size == 0)
            #expect(client.errno { client throws(Errno) in try client.rmdir(dir) } == .directoryNotEmpty)
            #expect(client.errno { client throws(Errno) in try client.mkdir(dir) } == .fileExists)
            try client.unlink(path("n"))
            try client.unlink(path("a%2Fb"))
            try client.rmdir(dir)
            #expect(!client.exists(dir))
            try client.mkdir("/internet-passwords/h,protocol=ssh,port=22")
            #expect(try client.list("/internet-passwords") == ["h,protocol=ssh,port=22"])
        }
    }

    @Test("F1, F2: the operations that commit, and the value that is visible before", arguments: BackEnd.available)
    func commits(_ backEnd: BackEnd) throws {
        try backEnd.run { client, fixture in
            #expect(try fixture.commits { try client.put(path("a"), "old") } == 1)
            let file = try client.open(path("a"), [.writeOnly, .truncate])
            #expect(try client.text(path("a")) == "old")
            let copy = try client.duplicate(file)
            #expect(try fixture.commits { try client.close(copy) } == 0)
            try client.write(file, Array("newer".utf8))
            #expect(try client.text(path("a")) == "old")
            #expect(try client.stat(path("a")).size == 5)
            #expect(try fixture.commits { try client.fsync(file) } == 1)
            #expect(try client.text(path("a")) == "newer")
            #expect(try fixture.commits { try client.close(file) } == 0)
            let empty = try client.open(path("a"), [.writeOnly, .truncate])
            try client.close(empty)
            // The RELEASE that commits is served before any request that follows the close.
            #expect(try client.text(path("a")) == "")
        }
    }

    @Test("F3: one value per read-only descriptor; appends of several writers", arguments: BackEnd.available)
    func descriptors(_ backEnd: BackEnd) throws {
        try backEnd.run { client, _ in
            try client.put(path("a"), "one")
            let reader = try client.open(path("a"), [])
            try client.put(path("a"), "two")
            #expect(try client.pread(reader, 10, at: 0) == Array("one".utf8))
            let writers = try (0..<2).map { _ in try client.open(path("a"), [.writeOnly, .append]) }
            for writer in writers + writers { try client.write(writer, [UInt8(ascii: "x")]) }
            for writer in writers { try client.close(writer) }
            #expect(try client.text(path("a")) == "twoxxxx")
            try client.close(reader)
        }
    }

    @Test("F3, F9: values of any size are returned complete, in chunks of any size", arguments: BackEnd.available)
    func sizes(_ backEnd: BackEnd) throws {
        try backEnd.run { client, _ in
            for count in [0, 1, 4095, 4097, 65_536, 65_537, 131_073, 1 << 20] {
                let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
                try client.put(path("a"), bytes)
                #expect(try client.contents(path("a")) == bytes)
                #expect(try client.stat(path("a")).size == UInt64(count))
            }
            let file = try client.open(path("a"), [.writeOnly])
            #expect(client.errno { client throws(Errno) in try client.pwrite(file, [1], at: 1 << 20) } == .fileTooLarge)
            #expect(client.errno { client throws(Errno) in try client.close(file) } == .fileTooLarge)
            #expect(try client.stat(path("a")).size == 1 << 20)
        }
    }

    @Test("F1: truncate, ftruncate and holes", arguments: BackEnd.available)
    func truncation(_ backEnd: BackEnd) throws {
        try backEnd.run { client, fixture in
            try client.put(path("a"), "abcdef")
            #expect(try fixture.commits { try client.truncate(path("a"), 3) } == 1)
            #expect(try client.text(path("a")) == "abc")
            let file = try client.open(path("a"), [.readWrite])
            try client.ftruncate(file, 1)
            try client.pwrite(file, Array("z".utf8), at: 3)
            #expect(try client.pread(file, 9, at: 0) == [0x61, 0, 0, 0x7A])
            try client.ftruncate(file, 2)
            try client.ftruncate(file, 4)
            try client.close(file)
            #expect(try client.contents(path("a")) == [0x61, 0, 0, 0])
        }
    }

    @Test("F5, F6: rename and unlink", arguments: BackEnd.available)
    func renames(_ backEnd: BackEnd) throws {
        try backEnd.run { client, _ in
            try client.put(path("a"), "a")
            try client.setxattr(path("a"), "user.kSecAttrLabel", "L")
            let reference = try client.getxattr(path("a"), "user.kSecAttrPersistentReference")
            try client.put(path("b"), "b")
            let open = try client.open(path("a"), [.readWrite])
            let inode = try client.stat(path("b")).inode
            try client.rename(path("b"), path("a"))
            #expect(try client.text(path("a")) == "b")
            #expect(try client.stat(path("a")).inode == inode)
            #expect(try client.getxattr(path("a"), "user.kSecAttrLabel") == Array("L".utf8))
            #expect(try client.getxattr(path("a"), "user.kSecAttrPersistentReference") == reference)
            #expect(!client.exists(path("b")))
            #expect(try client.pread(open, 9, at: 0) == Array("a".utf8))
            #expect(try client.fstat(open).linkCount == 0)
            try client.pwrite(open, Array("late".utf8), at: 0)
            try client.close(open)
            #expect(try client.text(path("a")) == "b")
            try client.put(path("c"), "c")
            #expect(
                client.errno { client throws(Errno) in try client.rename(path("a"), path("c"), .noReplace) }
                    == .fileExists)
            try client.rename(path("a"), path("c"), .exchange)
            #expect(try client.text(path("a")) + client.text(path("c")) == "cb")
            try client.mkdir("/internet-passwords/h")
            #expect(
                client.errno { client throws(Errno) in try client.rename(path("a"), "/internet-passwords/h/a") }
                    == .crossDevice)
            try client.rename(dir, "/generic-passwords/t")
            #expect(try client.text("/generic-passwords/t/c") == "b")
            #expect(!client.exists(dir))
        }
    }

    @Test("F8: modes, owners and times", arguments: BackEnd.available)
    func facts(_ backEnd: BackEnd) throws {
        try backEnd.run { client, _ in
            let file = try client.open(path("a"), [.writeOnly, .create], mode: 0o666)
            try client.close(file)
            #expect(try client.stat(path("a")).permissions == 0o600)
            let before = try client.stat(path("a"))
            try client.chmod(path("a"), 0o640)
            let time = Timestamp(seconds: 981_173_106, nanoseconds: 123_456_789)
            try client.setTimes(path("a"), access: nil, modification: .at(time))
            let after = try client.stat(path("a"))
            #expect(after.permissions == 0o640 && after.modificationTime == time)
            #expect(after.changeTime > before.changeTime && after.accessTime == before.accessTime)
            _ = try client.text(path("a"))
            #expect(try client.stat(path("a")) == after)
            #expect(after.linkCount == 1 && after.inode == before.inode)
        }
    }

    @Test("X1-X4: attributes, and renaming through one", arguments: BackEnd.available)
    func attributes(_ backEnd: BackEnd) throws {
        try backEnd.run { client, _ in
            try client.put(path("a"), "x")
            #expect(try client.listxattr(path("a")).isEmpty)
            try client.setxattr(path("a"), "user.kSecAttrComment", "C")
            try client.setxattr(path("a"), "user.other", [0, 255], [.create])
            #expect(Set(try client.listxattr(path("a"))) == ["user.kSecAttrComment", "user.other"])
            #expect(try client.getxattr(path("a"), "user.kSecAttrService") == Array("s".utf8))
            let refused: [(String, Errno)] = [
                ("user.kSecAttrModificationDate", .notPermitted), ("user.kSecAttrServer", .operationNotSupported),
                ("user.kSecAttrAccessible", .invalidArgument),
            ]
            for (name, errno) in refused {
                #expect(client.errno { client throws(Errno) in try client.setxattr(path("a"), name, "x") } == errno)
            }
            #expect(
                client.errno { client throws(Errno) in _ = try client.getxattr(path("a"), "user.none") } == .noAttribute
            )
            #expect(
                client.errno { client throws(Errno) in _ = try client.getxattr(path("a"), "security.x") }
                    == .operationNotSupported)
            try client.removexattr(path("a"), "user.other")
            let open = try client.open(path("a"), [.readWrite])
            try client.setxattr(path("a"), "user.kSecAttrAccount", "b")
            #expect(try client.list(dir) == ["b"])
            #expect(backEnd.soon { !client.exists(path("a")) })
            try client.pwrite(open, Array("y".utf8), at: 0)
            try client.close(open)
            #expect(try client.text(path("b")) == "y")
            try client.setxattr(path("b"), "user.kSecAttrService", "t")
            #expect(backEnd.soon { client.exists("/generic-passwords/t/b") })
            #expect(try client.text("/generic-passwords/t/b") == "y")
        }
    }

    @Test("T6: a long listing while names come and go", arguments: BackEnd.available)
    func listing(_ backEnd: BackEnd) throws {
        try backEnd.run { client, _ in
            let names = (0..<400).map { "n\($0)" }
            for name in names { try client.put(path(name), "x") }
            #expect(try client.list(dir) == names)
            for name in names.prefix(200) { try client.unlink(path(name)) }
            let pending = try client.open(path("pending"), [.writeOnly, .create])
            let listed = try client.list(dir)
            #expect(
                listed == names.dropFirst(200) + ["pending"],
                "\(listed.count): \(listed.prefix(3)) … \(listed.suffix(3))")
            try client.close(pending)
            let read = try client.readDirectory(dir)
            #expect(read.error == nil && Set(read.types.values) == [.regular])
        }
    }

    @Test(
        "L1, L2: after a lock no protected item answers, even if the kernel had cached its data",
        arguments: BackEnd.available)
    func lock(_ backEnd: BackEnd) throws {
        try backEnd.run { client, fixture in
            try client.put(path("a"), "secret")
            try client.put(path("b"), "always there")
            try client.setxattr(path("b"), "user.kSecAttrAccessible", "AfterFirstUnlock")
            try client.put(path("idle"), "seen, and not used since")
            _ = try client.stat(path("idle"))
            let reader = try client.open(path("a"), [])
            _ = try client.stat(path("a"))
            let control = try client.open("/.keychainfs/control", [.readWrite])
            try client.write(control, Array("lock\n".utf8))
            #expect(try client.read(control, 100) == Array("locked\n".utf8))
            try client.close(control)
            #expect(client.errno { client throws(Errno) in _ = try client.stat(path("a")) } == .noKey)
            #expect(client.errno { client throws(Errno) in _ = try client.contents(path("a")) } == .noKey)
            if let mounted = client as? MountedClient {
                #expect(!mounted.finds(path("a")) && !mounted.finds(path("idle")))
            }
            #expect(client.errno { client throws(Errno) in try client.put(path("new"), "x") } == .noKey)
            #expect(client.errno { client throws(Errno) in try client.unlink(path("a")) } == .noKey)
            #expect(client.errno { client throws(Errno) in _ = try client.pread(reader, 9, at: 0) } == .noKey)
            let read = try client.readDirectory(dir)
            #expect(read.names == ["b"] && read.error == .noKey)
            #expect(try client.text(path("b")) == "always there")
            try fixture.tree.unlock(passphrase: try Fixture.passphrase())
            #expect(try client.text(path("a")) == "secret")
            #expect(try client.list(dir) == ["a", "b", "idle"])
            try client.close(reader)
        }
    }
}
