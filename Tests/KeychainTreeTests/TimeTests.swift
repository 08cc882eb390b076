import FileSystemCore
import Keychain
import KeychainTesting
import SystemPackage
import Testing

@testable import KeychainTree

/// F8: mode, owner and times of an item.
@Suite struct TimeTests: SingleServiceSuite {
    private let fixture: TreeFixture
    private let shell: TreeProcess

    init() throws {
        fixture = try TreeFixture()
        shell = TreeProcess(fixture)
        try shell.mkdir(dir)
        try shell.put(path("a"), "x")
        try shell.put(path("b"), "y")
    }

    /// Changes that leave the contents unmodified.
    private var changes: [(name: String, change: () throws -> Void)] {
        [
            ("chmod", { try shell.setattr(path("a")) { $0.permissions = 0o640 } }),
            ("chown", { try shell.setattr(path("a")) { ($0.userID, $0.groupID) = (12, 34) } }),
            ("utimens", { try shell.setattr(path("a")) { $0.accessTime = .at(Timestamp(seconds: 5)) } }),
            ("setxattr", { try shell.setxattr(path("a"), "kSecAttrLabel", "L") }),
            ("removexattr", { try shell.removexattr(path("a"), "kSecAttrLabel") }),
            ("class", { try shell.setxattr(path("a"), "kSecAttrAccessible", "AfterFirstUnlock") }),
            ("creation date", { try shell.setxattr(path("a"), "kSecAttrCreationDate", "2001-01-01T00:00:00Z") }),
            (
                "rename",
                {
                    try shell.rename(path("a"), path("c")); try shell.rename(path("c"), path("a"))
                }
            ),
            (
                "rename by attribute",
                {
                    try shell.setxattr(path("a"), "kSecAttrAccount", "c")
                    try shell.setxattr(path("c"), "kSecAttrAccount", "a")
                }
            ),
            (
                "exchange",
                {
                    try shell.rename(path("a"), path("b"), .exchange)
                    try shell.rename(path("b"), path("a"), .exchange)
                }
            ),
        ]
    }

    @Test("F8: every change updates ctime, which is kSecAttrModificationDate; mtime is a separate value")
    func changeTime() throws {
        for (name, change) in changes {
            let before = try shell.stat(path("a"))
            try change()
            let after = try shell.stat(path("a"))
            #expect(after.changeTime > before.changeTime, "\(name)")
            #expect(after.modificationTime == before.modificationTime, "\(name)")
            let date = DateText.decode(try shell.getxattr(path("a"), "kSecAttrModificationDate"))
            #expect(date.map(Timestamp.init) == after.changeTime, "\(name)")
        }
        let before = try shell.stat(path("a"))
        try shell.put(path("a"), "new")
        let after = try shell.stat(path("a"))
        #expect(after.changeTime > before.changeTime && after.modificationTime > before.modificationTime)
        #expect(after.accessTime == before.accessTime)
    }

    @Test("F8: ctime never goes back, though the clock does")
    func clockSetBack() throws {
        for (name, change) in changes + [("write", { try shell.put(path("a"), "new") })] {
            let before = try shell.stat(path("a")).changeTime
            fixture.clock.move(by: -100_000)
            try change()
            #expect(try shell.stat(path("a")).changeTime > before, "\(name)")
        }
        let staged = try shell.open(path("a"), [.writeOnly])
        let before = try shell.stat(path("a")).changeTime
        fixture.clock.move(by: -100_000)
        try shell.write(staged, "z")
        #expect(try shell.fstat(staged).attributes.changeTime >= before)
        try shell.close(staged)
        #expect(try shell.stat(path("a")).changeTime > before)
    }

    @Test("F8: the commit of a pending name keeps the times that stat returned before")
    func newName() throws {
        let file = try shell.open(path("new"), [.writeOnly, .create])
        try shell.write(file, "x")
        var before = try shell.fstat(file).attributes
        try shell.fsync(file)
        #expect(try shell.stat(path("new")).changeTime >= before.changeTime)
        #expect(try shell.stat(path("new")).modificationTime == before.modificationTime)
        try shell.close(file)
        let moved = try shell.open(path("m1"), [.writeOnly, .create])
        try shell.write(moved, "x")
        before = try shell.fstat(moved).attributes
        try shell.rename(path("m1"), path("m2"))
        #expect(try shell.stat(path("m2")).changeTime >= before.changeTime)
        try shell.close(moved)
        #expect(try shell.stat(path("m2")).changeTime >= before.changeTime)
    }

    @Test("F8: reading changes no time")
    func reading() throws {
        let (file, directory) = (try shell.stat(path("a")), try shell.stat(dir))
        #expect(
            try fixture.commits {
                _ = try shell.cat(path("a"))
                _ = try shell.getxattr(path("a"), "kSecAttrAccount")
                _ = try shell.listxattr(path("a"))
                _ = try shell.list(dir)
                _ = try shell.entries(dir)
            } == 0)
        #expect(try shell.stat(path("a")) == file && shell.stat(dir) == directory)
    }

    @Test("F8: mode, owner, mtime and atime are kept with the item; only the mode of a creation is masked")
    func kept() throws {
        let times = (Timestamp(seconds: -5, nanoseconds: 999_999_999), Timestamp(seconds: 1 << 33, nanoseconds: 1))
        #expect(try shell.stat(path("a")).permissions == 0o600)
        try shell.setattr(path("a")) { changes in
            (changes.permissions, changes.userID, changes.groupID) = (0o6777, 12, 34)
            (changes.accessTime, changes.modificationTime) = (.at(times.0), .at(times.1))
        }
        let later = TreeProcess(try TreeFixture(copying: fixture.store.records, device: 1))
        let shared = TreeProcess(try TreeFixture(copying: fixture.store.records, device: 1, isShared: true))
        for process in [shell, later, shared] {
            let kept = try process.stat(path("a"))
            #expect(kept.permissions == 0o6777)
            #expect(kept.accessTime == times.0 && kept.modificationTime == times.1)
        }
        #expect(try later.stat(path("a")) == shell.stat(path("a")))
        let kept = try shared.stat(path("a"))
        #expect(kept.userID == 12 && kept.groupID == 34)
        // A user with an own mount owns all files in it.
        let own = try later.stat(path("a"))
        #expect(own.userID == 1000 && own.groupID == 1000)
    }
}
