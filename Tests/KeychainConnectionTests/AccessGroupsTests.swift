import Foundation
import Testing

@testable import KeychainConnection

@Suite struct AccessGroupsTests {
    /// Groups of a process whose home has that file.
    private func groups(file: String?, _ environment: [String: String] = [:]) throws -> [String] {
        let home = FileManager.default.temporaryDirectory.appendingPathComponent("groups-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: home) }
        let folder = home.appendingPathComponent(".config/keychainfs")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        if let file {
            try file.write(to: folder.appendingPathComponent("access-groups"), atomically: true, encoding: .utf8)
        }
        return AccessGroups(environment: environment.merging(["HOME": home.path]) { own, _ in own }).names
    }

    @Test("Without a named group, the group that the root of a mount shows is used")
    func fallback() throws {
        #expect(try groups(file: nil) == ["default"])
        #expect(try groups(file: "\n# none\n  \n") == ["default"])
        #expect(AccessGroups([]).names == ["default"])
    }

    @Test("The file has a group a line; blanks around it, empty lines, comments and repetitions do not count")
    func file() throws {
        let text = "# of this machine\r\n  team.app \n\nteam.shared\n#old\nteam.app\nwith, comma\n"
        #expect(try groups(file: text) == ["team.app", "team.shared", "with, comma"])
    }

    @Test("The variable goes before the file; the first group is the default")
    func variable() throws {
        let variable = ["KEYCHAINFS_ACCESS_GROUPS": " b ,a,, b"]
        #expect(try groups(file: "c\n", variable) == ["b", "a"])
        #expect(try groups(file: "c\n", ["KEYCHAINFS_ACCESS_GROUPS": " , "]) == ["c"])
        #expect(try groups(file: nil, ["KEYCHAINFS_ACCESS_GROUPS": "*"]) == ["*"])
    }

    @Test("The file's directory follows XDG_CONFIG_HOME, unless that is relative")
    func directory() throws {
        #expect(try groups(file: "c\n", ["XDG_CONFIG_HOME": "/nonexistent"]) == ["default"])
        #expect(try groups(file: "c\n", ["XDG_CONFIG_HOME": "relative"]) == ["c"])
    }

    @Test("The mount is where KEYCHAINFS_MOUNT says, else ~/Keychain")
    func mountPoint() {
        #expect(DefaultMountPoint.path(environment: ["HOME": "/home/a"]) == "/home/a/Keychain")
        #expect(DefaultMountPoint.path(environment: ["HOME": "/home/a", "KEYCHAINFS_MOUNT": ""]) == "/home/a/Keychain")
        #expect(DefaultMountPoint.path(environment: ["HOME": "/home/a", "KEYCHAINFS_MOUNT": "/mnt/k"]) == "/mnt/k")
    }

    @Test(
        "E16: the mount is where the settings name it, and nowhere if they have a mistake",
        arguments: [
            ("mount-point = /m\n", "/m"), ("mount-point = ~/m\n", "~/m"), ("lock-after = 1m", "~/Keychain"),
            ("mount-point = m\n", ""),
            ("mount-point = /m\nmount-point = /n", ""), ("mount-point = /m\nx", ""),
        ])
    func settings(_ text: String, _ path: String) throws {
        let home = FileManager.default.temporaryDirectory.appendingPathComponent("home-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: home) }
        try FileManager.default.createDirectory(atPath: home + "/.config/keychainfs", withIntermediateDirectories: true)
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        #expect(
            FileManager.default.createFile(
                atPath: home + "/.config/keychainfs/config", contents: Data(text.utf8), attributes: attributes))
        #expect(DefaultMountPoint.path(environment: ["HOME": home]) == path.replacing("~", with: home))
        #expect(DefaultMountPoint.path(environment: ["HOME": home, "KEYCHAINFS_MOUNT": "/v"]) == "/v")
    }
}
