import Foundation
import LinuxSupport
import SystemPackage
import Testing

@Suite("Files of settings")
struct SettingsFileTests {
    /// Runs `body` with the path of a file in a temporary directory, which does not exist yet.
    private func withFile(_ body: (String) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("settings-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try body(directory.path + "/config")
    }

    private func write(_ contents: [UInt8], to path: String, mode: Int = 0o600) {
        #expect(FileManager.default.createFile(atPath: path, contents: Data(contents)))
        #expect(chmod(path, mode_t(mode)) == 0)
    }

    /// Returns the settings as `LINE NAME=VALUE`, and the problems.
    private func read(_ path: String) -> ([String], [SettingsFile.Problem]) {
        let file = SettingsFile(path: path)
        return (file.settings.map { "\($0.line) \($0.name)=\($0.value)" }, file.problems)
    }

    @Test("E16: lines, comments, blanks and mistakes")
    func lines() throws {
        try withFile { path in
            let text =
                "\n# comment\n  a-b =  c d # e \r\n\tx=y=z\n=\nname\n = v\nn =\n#=\na-b = é\u{301}\n\u{301}c = \u{301}"
            write(Array(text.utf8), to: path)
            let (settings, problems) = read(path)
            #expect(settings == ["3 a-b=c d # e", "4 x=y=z", "10 a-b=é\u{301}", "11 \u{301}c=\u{301}"])
            #expect(problems == [5, 6, 7, 8].map { .malformed(line: $0) })
        }
    }

    @Test("E16: a file that does not exist, or whose directory does not, has no settings")
    func missing() throws {
        try withFile { path in
            #expect(read(path) == ([], []))
            write([], to: path)
            #expect(read(path) == ([], []))
            #expect(read(path + "/config") == ([], []))
        }
    }

    @Test("E16: a file that other users may change is not used", arguments: [0o620, 0o602, 0o666, 0o777])
    func notPrivate(_ mode: Int) throws {
        try withFile { path in
            write(Array("a = b\n".utf8), to: path, mode: mode)
            #expect(read(path) == ([], [.notPrivate]))
            #expect(chmod(path, 0o644) == 0)
            #expect(read(path) == (["1 a=b"], []))
        }
    }

    @Test("E16: a symbolic link is followed; a directory and a pipe are not files")
    func kinds() throws {
        try withFile { path in
            write(Array("a = b".utf8), to: path + "2")
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path + "2")
            #expect(read(path) == (["1 a=b"], []))
            #expect(mkfifo(path + "3", 0o600) == 0)
            #expect(read(path + "3") == ([], [.notRegularFile]))
            try FileManager.default.createDirectory(atPath: path + "4", withIntermediateDirectories: false)
            #expect(read(path + "4") == ([], [.notRegularFile]))
            try FileManager.default.createSymbolicLink(atPath: path + "5", withDestinationPath: path + "5")
            #expect(read(path + "5") == ([], [.unreadable(.tooManySymbolicLinkLevels)]))
        }
    }

    @Test("E16: a file that is not text, or has more than 64 KiB, is not used")
    func contents() throws {
        try withFile { path in
            for contents: [UInt8] in [[0x61, 0x3D, 0xFF], [0x61, 0x3D, 0x00]] {
                write(contents, to: path)
                #expect(read(path) == ([], [.notText]))
            }
            write([UInt8](repeating: UInt8(ascii: "#"), count: 64 << 10), to: path)
            #expect(read(path) == ([], []))
            write([UInt8](repeating: UInt8(ascii: "#"), count: 64 << 10 + 1), to: path)
            #expect(read(path) == ([], [.tooLong]))
        }
    }

    @Test("E16: a path begins with a slash or the home directory")
    func paths() {
        let expected: [(String, String?)] = [
            ("/a", "/a"), ("~/a b", "/home/u/a b"), ("~", "/home/u"), ("~/", "/home/u/"), ("a/b", nil), ("~v/a", nil),
            ("./a", nil),
            ("~/\u{301}a", "/home/u/\u{301}a"), ("/\u{301}", "/\u{301}"),
        ]
        for (value, path) in expected {
            let setting = SettingsFile.Setting(name: "n", value: value, line: 1)
            #expect(setting.path(home: "/home/u") == path, "\(value)")
        }
    }

    @Test("the directories of the user are those of the XDG variables, if they are absolute")
    func directories() {
        let directories = UserDirectories(environment: ["HOME": "/h", "XDG_DATA_HOME": "/d", "XDG_STATE_HOME": "s"])
        #expect(directories.home == "/h" && directories.data == "/d")
        #expect(directories.state == "/h/.local/state" && directories.configuration == "/h/.config")
        #expect(UserDirectories(environment: ["HOME": ""]).home == UserAccount.home(of: getuid()))
    }
}
