import DeviceState
import Foundation
import Glibc
import LinuxSupport
import Testing

@testable import KeychainMount

@Suite("The user's settings")
struct SettingsTests {
    /// Runs `body` with the environment of a user who has these settings.
    private func withSettings(
        _ text: String, mode: Int = 0o600, _ body: ([String: String]) throws -> Void
    ) throws {
        let home = FileManager.default.temporaryDirectory.appendingPathComponent("home-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: home) }
        let directory = home + "/.config/keychainfs"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        #expect(FileManager.default.createFile(atPath: directory + "/config", contents: Data(text.utf8)))
        #expect(chmod(directory + "/config", mode_t(mode)) == 0)
        try body(["HOME": home])
    }

    @Test(
        "E16: a mistake is named with its line",
        arguments: [
            ("keychain = work\nunknown = x", "line 2: the name is unknown"),
            ("lock-after", "line 1 is not 'NAME = VALUE'"),
            ("lock-after =", "line 1 is not"),
            ("lock-after = 1m\n\nlock-after = 1m", "line 3: lock-after is set twice"),
            ("lock-after = soon", "line 1: lock-after: 'lock_after=' (--lock-after) needs a duration"),
            ("lock-after = 15m # comment", "line 1: lock-after: "), ("lock-at-most = 0", "line 1: lock-at-most: "),
            ("lock-on = never", "line 1: lock-on: "), ("lock-after = 1m,ro", "line 1: lock-after: "),
            ("mount-options = ro,other", "line 1: mount-options: The mount option 'other'"),
            ("mount-options = locked,key_file=/k", "line 1: mount-options: 'locked'"),
            ("mount-options = ro,lock_after=1m\nlock-after = 1m", "line 2: lock-after: mount-options sets it too"),
            ("mount-point = Keychain", "line 1: mount-point: a path begins"),
            ("keychain = a/b", "line 1: keychain: a path begins"),
            ("keychain = -x", "line 1: keychain: "), ("keychain = ..", "line 1: keychain: "),
            ("clear-after = x", "line 1: clear-after: "),
            ("Keychain = work", "line 1: the name is unknown"),
        ])
    func mistakes(_ text: String, _ message: String) throws {
        try withSettings(text) { environment in
            let settings = Settings(Configuration(environment: environment))
            let error = #expect(throws: CLIError.self) { try settings.require() }
            #expect(error?.exitCode == .usage)
            #expect(error?.message.contains("\(settings.path), \(message)") == true, "\(error?.message ?? "")")
        }
    }

    @Test("E16: a file that other users may write has no effect")
    func notPrivate() throws {
        try withSettings("mount-point = /m", mode: 0o622) { environment in
            let error = #expect(throws: CLIError.self) {
                try Settings(Configuration(environment: environment)).require()
            }
            #expect(error?.exitCode == .noPassphrase)
            #expect(DefaultPaths(environment: environment).mountPoint == environment["HOME"]! + "/Keychain")
        }
    }

    @Test("E16: the lines without a mistake are used")
    func validLines() throws {
        try withSettings("mount-point = /m\nunknown = x\nkeychain = ~/k.keychain\nlock-after = soon") { environment in
            let locations = DefaultPaths(environment: environment)
            #expect(locations.mountPoint == "/m")
            #expect(KeychainPath(named: nil, locations: locations).path == environment["HOME"]! + "/k.keychain")
            #expect(Settings(Configuration(environment: environment)).problems.count == 2)
        }
    }

    @Test("E16: the variable takes precedence over the settings, and an argument over both")
    func precedence() throws {
        try withSettings("mount-point = /m\nkeychain = work") { environment in
            #expect(
                DefaultPaths(environment: environment.merging(["KEYCHAINFS_MOUNT": "/v"]) { $1 }).mountPoint == "/v")
            let locations = DefaultPaths(environment: environment)
            #expect(KeychainPath(named: nil, locations: locations).path.hasSuffix("/keychainfs/work.keychain"))
            #expect(KeychainPath(named: nil, locations: locations).isDefault)
            #expect(KeychainPath(named: nil, locations: locations).mountCommand == "keychainfs mount")
            #expect(KeychainPath(named: "login", locations: locations).path.hasSuffix("/keychainfs/login.keychain"))
            #expect(
                KeychainPath(named: "login", locations: locations).mountCommand == "keychainfs mount --keychain login")
        }
    }

    @Test(
        "E16: an option of the command line replaces those of the settings that set the same",
        arguments: [
            (["rw"], ["allow_other", "lock_after=900s"]), (["allow_root"], ["ro", "allow_root", "lock_after=900s"]),
            (["lock_after=1m"], ["ro", "allow_other", "lock_after=60s"]),
            ([], ["ro", "allow_other", "lock_after=900s"]),
            (["noexec,lock_at_most=1h"], ["ro", "noexec", "allow_other", "lock_after=900s", "lock_at_most=3600s"]),
        ])
    func options(_ texts: [String], _ expected: [String]) throws {
        try withSettings("mount-options = ro,allow_other\nlock-after = 15m\n") { environment in
            let settings = Settings(Configuration(environment: environment)).mountOptions
            let options = try MountOptionList(texts, settings: settings, overridden: [])
            #expect(options == (try MountOptionList([expected.joined(separator: ",")])))
        }
    }

    @Test("E16: the events of a lock are replaced, not added; a secret of the command line replaces the way to unlock")
    func replaced() throws {
        let settings = ["lock_on=suspend", "passphrase_file=/p"]
        #expect(
            try MountOptionList(["lock_on=screen"], settings: settings, overridden: []).lockPolicy.events == [
                .screen
            ])
        #expect(try MountOptionList([], settings: settings, overridden: []).passphraseFile == "/p")
        #expect(try MountOptionList([], settings: settings, overridden: ["passphrase_file"]).passphraseFile == nil)
        let locked = try MountOptionList(["locked"], settings: settings, overridden: [])
        #expect(locked.startsLocked && locked.passphraseFile == nil)
        #expect(try !MountOptionList(["key_file=/k"], settings: ["locked"], overridden: []).startsLocked)
    }

    @Test("E16: 'config' has every setting, its value and its source")
    func report() throws {
        try withSettings("# comment\nlock-on = screen\nmount-point = ~/m") { environment in
            let home = environment["HOME"]!
            let report = SettingsReport(environment: environment)
            #expect(report.settings.count == Configuration.Name.allCases.count)
            #expect(
                report.settings["lock-on"].map { "\($0.value ?? "-") \($0.source) \($0.line ?? 0)" } == "screen file 2")
            #expect(report.settings["mount-point"]?.value == home + "/m")
            #expect(report.settings["clear-after"].map { "\($0.value ?? "-") \($0.source)" } == "45s default")
            #expect(report.settings["lock-after"]?.value == nil)
            #expect(report.settings["keychain"]?.value == home + "/.local/share/keychainfs/login.keychain")
            #expect(report.text.contains("screen"))
            let other = SettingsReport(environment: environment.merging(["KEYCHAINFS_MOUNT": "/v"]) { $1 })
            #expect(other.settings["mount-point"].map { "\($0.value ?? "-") \($0.source)" } == "/v environment")
        }
    }
}
