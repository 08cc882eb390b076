import FileSystemCore
import FileSystemTesting
import SystemPackage
import Testing

/// POSIX, "File Times Update": the times of each file that an operation marks.
@Suite struct TimestampConformance {
    private typealias Operation = (
        name: String, marks: [Mark], run: @Sendable (any FileClient, Paths, Int) throws(Errno) -> Void
    )

    /// The files of one case.
    struct Paths: Sendable {
        let file: String
        let peer: String
        let new: String
        let elsewhere: String
    }

    /// The times that an operation marks: `m` the modification, `c` the status change; times that are not named stay
    /// unchanged.
    enum Mark: Hashable, Sendable {
        case file(String), peer(String), directory(String), other(String), top(String)
    }

    private static let directory = Fixture.directory
    private static let other = "/generic-passwords/other"
    private static let top = "/generic-passwords"

    private static let contents: [Operation] = [
        ("read", [], { client, _, fd throws(Errno) in _ = try client.pread(fd, 4, at: 0) }),
        ("write", [.file("mc")], { client, _, fd throws(Errno) in try client.pwrite(fd, [1], at: 0) }),
        ("ftruncate", [.file("mc")], { client, _, fd throws(Errno) in try client.ftruncate(fd, 3) }),
        ("ftruncate to the same", [.file("mc")], { client, _, fd throws(Errno) in try client.ftruncate(fd, 10) }),
        ("truncate", [.file("mc")], { client, paths, _ throws(Errno) in try client.truncate(paths.file, 3) }),
        (
            "truncate to the same", [.file("mc")],
            { client, paths, _ throws(Errno) in try client.truncate(paths.file, 10) }
        ),
        (
            "O_TRUNC", [.file("mc")],
            { client, paths, _ throws(Errno) in
                try client.close(try client.open(paths.file, [.writeOnly, .truncate]))
            }
        ),
        ("open", [], { client, paths, _ throws(Errno) in try client.close(try client.open(paths.file, .readWrite)) }),
        ("fsync", [], { client, _, fd throws(Errno) in try client.fsync(fd) }),
        (
            "copy_file_range", [.file("mc")],
            { client, paths, fd throws(Errno) in
                let source = try client.open(paths.peer, [])
                _ = try client.copyRange(from: source, at: 0, to: fd, at: 0, count: 1)
                try client.close(source)
            }
        ),
    ]

    private static let attributes: [Operation] = [
        ("chmod", [.file("c")], { client, paths, _ throws(Errno) in try client.chmod(paths.file, 0o640) }),
        ("chmod to the same", [.file("c")], { client, paths, _ throws(Errno) in try client.chmod(paths.file, 0o600) }),
        (
            "chown to the same", [.file("c")],
            { client, paths, _ throws(Errno) in
                let status = try client.stat(paths.file)
                try client.chown(paths.file, user: status.userID, group: status.groupID)
            }
        ),
        (
            "chown of nothing", [.file("c")],
            { client, paths, _ throws(Errno) in try client.chown(paths.file, user: nil, group: nil) }
        ),
        (
            "utimens", [.file("mc")],
            { client, paths, _ throws(Errno) in
                try client.setTimes(paths.file, access: nil, modification: .at(Timestamp(seconds: 5)))
            }
        ),
        (
            "utimens of the access time", [.file("c")],
            { client, paths, _ throws(Errno) in
                try client.setTimes(paths.file, access: .at(Timestamp(seconds: 5)), modification: nil)
            }
        ),
        (
            "setxattr", [.file("c")],
            { client, paths, _ throws(Errno) in try client.setxattr(paths.file, "user.a", "1") }
        ),
        (
            "setxattr to the same", [.file("c")],
            { client, paths, _ throws(Errno) in try client.setxattr(paths.file, "user.set", "1") }
        ),
        (
            "removexattr", [.file("c")],
            { client, paths, _ throws(Errno) in try client.removexattr(paths.file, "user.set") }
        ),
        (
            "setxattr of the name", [],
            { client, paths, _ throws(Errno) in try client.setxattr(paths.file, "user.kSecAttrService", "s") }
        ),
        ("getxattr", [], { client, paths, _ throws(Errno) in _ = try client.getxattr(paths.file, "user.set") }),
        (
            "chmod of the directory", [.directory("c")],
            { client, _, _ throws(Errno) in try client.chmod(directory, 0o700) }
        ),
    ]

    private static let names: [Operation] = [
        (
            "creat", [.directory("mc")],
            { client, paths, _ throws(Errno) in
                try client.close(try client.open(paths.new, [.create, .writeOnly]))
            }
        ),
        (
            "creat of what is there", [],
            { client, paths, _ throws(Errno) in
                try client.close(try client.open(paths.file, [.create, .writeOnly]))
            }
        ),
        (
            "mknod", [.directory("mc")],
            { client, paths, _ throws(Errno) in try client.mknod(paths.new, .regular, mode: 0o600) }
        ),
        (
            "unlink", [.file("c"), .directory("mc")],
            { client, paths, _ throws(Errno) in try client.unlink(paths.file) }
        ),
        (
            "rename", [.file("c"), .directory("mc")],
            { client, paths, _ throws(Errno) in try client.rename(paths.file, paths.new) }
        ),
        (
            "rename to another directory", [.file("c"), .directory("mc"), .other("mc")],
            { client, paths, _ throws(Errno) in try client.rename(paths.file, paths.elsewhere) }
        ),
        (
            "rename over another file", [.file("c"), .peer("c"), .directory("mc")],
            { client, paths, _ throws(Errno) in try client.rename(paths.file, paths.peer) }
        ),
        (
            "exchange", [.file("c"), .peer("c"), .directory("mc")],
            { client, paths, _ throws(Errno) in try client.rename(paths.file, paths.peer, .exchange) }
        ),
        ("rename to itself", [], { client, paths, _ throws(Errno) in try client.rename(paths.file, paths.file) }),
        ("mkdir", [.top("mc")], { client, _, _ throws(Errno) in try client.mkdir(top + "/made") }),
        ("rmdir", [.top("mc")], { client, _, _ throws(Errno) in try client.rmdir(top + "/made") }),
        (
            "rename of a directory", [.top("mc"), .other("c")],
            { client, _, _ throws(Errno) in
                try client.rename(other, top + "/renamed")
                try client.rename(top + "/renamed", other)
            }
        ),
    ]

    @Test("F8: which operation marks which time; the change time never goes back", arguments: BackEnd.available)
    func marks(_ backEnd: BackEnd) throws {
        try backEnd.run { client, _ in
            try client.mkdir(Self.other)
            for (index, operation) in (Self.contents + Self.attributes + Self.names).enumerated() {
                let paths = Paths(
                    file: Self.directory + "/f\(index)", peer: Self.directory + "/p\(index)",
                    new: Self.directory + "/n\(index)", elsewhere: Self.other + "/e\(index)")
                try client.put(paths.file, "0123456789")
                try client.put(paths.peer, "peer")
                try client.setxattr(paths.file, "user.set", "1")
                try check(client, operation, paths)
            }
        }
    }

    private func check(_ client: any FileClient, _ operation: Operation, _ paths: Paths) throws {
        let file = try client.open(paths.file, .readWrite)
        let peer = try client.open(paths.peer, .readWrite)
        let before = try times(client, file, peer)
        try operation.run(client, paths, file)
        let after = try times(client, file, peer)
        var marks: Set<Mark> = []
        for (old, new) in zip(before, after) {
            #expect(new.status.changeTime >= old.status.changeTime, "\(operation.name): the change time went back")
            #expect(new.status.accessTime == old.status.accessTime || operation.name.hasPrefix("utimens"))
            let isModified = new.status.modificationTime != old.status.modificationTime
            let isChanged = new.status.changeTime != old.status.changeTime
            let letters = (isModified ? "m" : "") + (isChanged ? "c" : "")
            if !letters.isEmpty { marks.insert(new.mark(letters)) }
        }
        #expect(marks == Set(operation.marks), "\(operation.name)")
        try client.close(file)
        try client.close(peer)
    }

    private func times(
        _ client: any FileClient, _ file: Int, _ peer: Int
    ) throws -> [(mark: (String) -> Mark, status: Attributes)] {
        [
            (Mark.file, try client.fstat(file)), (Mark.peer, try client.fstat(peer)),
            (Mark.directory, try client.stat(Self.directory)), (Mark.other, try client.stat(Self.other)),
            (Mark.top, try client.stat(Self.top)),
        ]
    }
}
