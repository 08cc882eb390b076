import FileSystemCore
import FileSystemTesting
import SystemPackage
import Testing

/// chmod(2), utimensat(2), and the mode bits that a write by a user other than root clears.
@Suite struct AttributeConformance {
    private let path = Fixture.directory + "/a"

    @Test("F8: every mode that chmod(2) can set is kept, of files and of directories", arguments: BackEnd.available)
    func modes(_ backEnd: BackEnd) throws {
        try backEnd.run { client, _ in
            try client.put(path, "x")
            for mode in stride(from: UInt32(0), through: 0o7777, by: 0o111) {
                try client.chmod(path, mode)
                #expect(try client.stat(path).permissions == mode)
                try client.chmod(Fixture.directory, mode)
                #expect(try client.stat(Fixture.directory).permissions == mode)
            }
        }
    }

    @Test(
        "F8: modes of new files are limited to the owner's permissions, regardless of the mode that open requests",
        arguments: BackEnd.available)
    func creationModes(_ backEnd: BackEnd) throws {
        try backEnd.run { client, _ in
            for (index, mode) in [UInt32](arrayLiteral: 0o666, 0o777, 0o400, 0o200, 0, 0o7777, 0o600).enumerated() {
                let file = try client.open("\(path)\(index)", [.create, .readWrite], mode: mode)
                // Regardless of the mode: the descriptor was opened before the change.
                try client.write(file, [1])
                try client.close(file)
                #expect(try client.stat("\(path)\(index)").permissions == mode & 0o700)
                try client.mkdir("/generic-passwords/d\(index)", mode: mode)
                #expect(try client.stat("/generic-passwords/d\(index)").permissions == mode & 0o700)
            }
        }
    }

    @Test("F8: times before 1970, after 2038 and 2106, to the nanosecond", arguments: BackEnd.available)
    func times(_ backEnd: BackEnd) throws {
        try backEnd.run { client, _ in
            try client.put(path, "x")
            for subject in [path, Fixture.directory] {
                for seconds in [Int64](arrayLiteral: 0, 1, -1, -(1 << 31), 1 << 31, (1 << 32) - 1, 1 << 33) {
                    for nanoseconds in [Int32](arrayLiteral: 0, 1, 500_000_000, 999_999_999) {
                        let (access, modification) = (
                            Timestamp(seconds: seconds, nanoseconds: nanoseconds),
                            Timestamp(seconds: seconds + 1, nanoseconds: 999_999_999 - nanoseconds)
                        )
                        try client.setTimes(subject, access: .at(access), modification: .at(modification))
                        let status = try client.stat(subject)
                        #expect(status.accessTime == access && status.modificationTime == modification)
                        try client.setTimes(subject, access: nil, modification: nil)
                        #expect(try client.stat(subject).modificationTime == modification)
                    }
                }
            }
        }
    }

    private static let user = Caller(userID: 1000, groupID: 1000, processID: 1)

    /// For truncate(2) the kernel clears the bits; the mount's own tests check that as an ordinary user.
    @Test("F8: a write or truncation by a user other than root clears the set-user-ID bit")
    func privileges() throws {
        let fixture = try Fixture()
        let root = PathClient(fixture.tree)
        let user = PathClient(fixture.tree, caller: Self.user)
        try fixture.use(root) { _, _ in
            let changes: [(PathClient) throws -> Void] = [
                { client in
                    let file = try client.open(path, .readWrite)
                    try client.write(file, [1])
                    try client.close(file)
                },
                { client in try client.close(try client.open(path, [.writeOnly, .truncate])) },
            ]
            let modes: [(before: UInt32, after: UInt32)] = [
                (0o4755, 0o755), (0o2755, 0o755), (0o6777, 0o777), (0o6644, 0o2644), (0o1755, 0o1755),
            ]
            try root.put(path, "x")
            for change in changes {
                for mode in modes {
                    try root.chmod(path, mode.before)
                    try change(root)
                    #expect(try root.stat(path).permissions == mode.before)
                    try change(user)
                    #expect(try root.stat(path).permissions == mode.after)
                }
            }
        }
    }

    @Test("F8: entries created in a set-group-ID directory get its group")
    func groups() throws {
        let fixture = try Fixture()
        let root = PathClient(fixture.tree)
        let user = PathClient(fixture.tree, caller: Self.user)
        try fixture.use(root) { _, _ in
            try root.chown(Fixture.directory, user: nil, group: 77)
            try user.put(path, "x")
            #expect(try root.stat(path).groupID == 1000)
            try root.chmod(Fixture.directory, 0o2770)
            try user.put(path + "2", "x")
            try user.mknod(path + "3", .regular, mode: 0o600)
            #expect(try root.stat(path + "2").groupID == 77 && root.stat(path + "3").groupID == 77)
        }
    }
}
