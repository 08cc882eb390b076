import FileSystemCore
import FileSystemTesting
import SystemPackage
import Testing

/// unlink(2), rmdir(2), mkdir(2), mknod(2), truncate(2) on every kind of name, and on files that were removed while
/// open.
@Suite struct UnlinkConformance {
    private typealias Call = (
        name: String, call: @Sendable (any FileClient, String) throws(Errno) -> Void, errors: [Errno?]
    )

    /// The errors are those of a missing name, an empty file, a file, an empty and a full directory.
    private static let calls: [Call] = [
        (
            "unlink", { client, path throws(Errno) in try client.unlink(path) },
            [.noSuchFileOrDirectory, nil, nil, .isDirectory, .isDirectory]
        ),
        (
            "rmdir", { client, path throws(Errno) in try client.rmdir(path) },
            [.noSuchFileOrDirectory, .notDirectory, .notDirectory, nil, .directoryNotEmpty]
        ),
        (
            "mkdir", { client, path throws(Errno) in try client.mkdir(path) },
            [.notPermitted, .fileExists, .fileExists, .fileExists, .fileExists]
        ),
        (
            "mknod", { client, path throws(Errno) in try client.mknod(path, .regular, mode: 0o600) },
            [nil, .fileExists, .fileExists, .fileExists, .fileExists]
        ),
        (
            "mkfifo", { client, path throws(Errno) in try client.mknod(path, .fifo, mode: 0o600) },
            [.notPermitted, .fileExists, .fileExists, .fileExists, .fileExists]
        ),
        (
            "symlink", { client, path throws(Errno) in try client.symlink("target", at: path) },
            [.notPermitted, .fileExists, .fileExists, .fileExists, .fileExists]
        ),
        (
            "truncate", { client, path throws(Errno) in try client.truncate(path, 3) },
            [.noSuchFileOrDirectory, nil, nil, .isDirectory, .isDirectory]
        ),
        (
            "chmod", { client, path throws(Errno) in try client.chmod(path, 0o700) },
            [.noSuchFileOrDirectory, nil, nil, nil, nil]
        ),
        (
            "list", { client, path throws(Errno) in _ = try client.list(path) },
            [.noSuchFileOrDirectory, .notDirectory, .notDirectory, nil, nil]
        ),
        (
            "below it", { client, path throws(Errno) in _ = try client.stat(path + "/x") },
            [.noSuchFileOrDirectory, .notDirectory, .notDirectory, .noSuchFileOrDirectory, .noSuchFileOrDirectory]
        ),
    ]

    @Test("T4, T5: the result of each call", arguments: BackEnd.available)
    func calls(_ backEnd: BackEnd) throws {
        try backEnd.run { client, _ in
            for (name, call, errors) in Self.calls {
                for (subject, wanted) in zip(Subject.allCases, errors) {
                    let path = try subject.prepare(client, "\(name)-\(subject)".filter { $0 != " " })
                    let got = client.errno { client throws(Errno) in try call(client, path) }
                    #expect(got == wanted, "\(name) of \(subject)")
                    client.clear(path)
                }
            }
        }
    }

    @Test("T1: names of 255 and 256 bytes", arguments: BackEnd.available)
    func longNames(_ backEnd: BackEnd) throws {
        try backEnd.run { client, _ in
            let longest = Fixture.directory + "/" + String(repeating: "n", count: 255)
            try client.put(longest, "x")
            #expect(try client.text(longest) == "x")
            let tooLong = longest + "n"
            let errors = [
                client.errno { client throws(Errno) in _ = try client.stat(tooLong) },
                client.errno { client throws(Errno) in try client.put(tooLong, "x") },
                client.errno { client throws(Errno) in try client.unlink(tooLong) },
                client.errno { client throws(Errno) in try client.rename(longest, tooLong) },
                client.errno { client throws(Errno) in try client.rename(tooLong, longest) },
                client.errno { client throws(Errno) in try client.mkdir(tooLong) },
                client.errno { client throws(Errno) in _ = try client.list(tooLong) },
            ]
            #expect(errors.allSatisfy { $0 == .fileNameTooLong }, "\(errors)")
            #expect(try client.list(Fixture.directory).count == 1)
        }
    }

    @Test(
        "F6: a removed file stays usable through its descriptors, with a link count of 0", arguments: BackEnd.available)
    func removedFiles(_ backEnd: BackEnd) throws {
        try backEnd.run { client, _ in
            for (index, isReplaced) in [false, true].enumerated() {
                let path = Fixture.directory + "/gone\(index)"
                try client.put(path, "0123456789")
                let file = try client.open(path, .readWrite)
                let before = try client.fstat(file)
                if isReplaced {
                    try client.put(path + "new", "new")
                    try client.rename(path + "new", path)
                } else {
                    try client.unlink(path)
                }
                let after = try client.fstat(file)
                #expect(after.linkCount == 0 && after.inode == before.inode && after.size == 10)
                #expect(after.changeTime > before.changeTime, "its links have changed")
                #expect(after.modificationTime == before.modificationTime)
                try client.pwrite(file, Array("AB".utf8), at: 2)
                try client.ftruncate(file, 5)
                #expect(try client.pread(file, 20, at: 0) == Array("01AB4".utf8))
                try client.fsync(file)
                try client.close(file)
                #expect(client.exists(path) == isReplaced)
            }
        }
    }

    @Test("T4: a removed directory can be examined while it is open", arguments: BackEnd.available)
    func removedDirectories(_ backEnd: BackEnd) throws {
        try backEnd.run { client, _ in
            for parent in ["/generic-passwords/", "/access-groups/"] {
                for isReplaced in [false, true] {
                    let path = parent + "gone\(isReplaced)"
                    try client.mkdir(path)
                    let open = try client.open(path, [])
                    let before = try client.fstat(open)
                    if isReplaced {
                        try client.mkdir(path + "new")
                        try client.rename(path + "new", path)
                    } else {
                        try client.rmdir(path)
                    }
                    let after = try client.fstat(open)
                    #expect(after.linkCount == 0 && after.type == .directory && after.inode == before.inode)
                    #expect(after.changeTime > before.changeTime)
                    try client.fsync(open)
                    try client.close(open)
                    #expect(client.exists(path) == isReplaced)
                }
            }
        }
    }
}
