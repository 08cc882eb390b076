import DeviceState
import Foundation
import Testing

@testable import KeychainMount

@Suite("Names of keychains")
struct KeychainNameTests {
    private let locations = DefaultPaths(environment: ["HOME": "/home/nobody-here", "XDG_DATA_HOME": "/data"])

    @Test(
        "C11: text without a slash is a name in the data directory, other text is a path",
        arguments: [
            ("work", "/data/keychainfs/work.keychain"), ("work.keychain", "/data/keychainfs/work.keychain"),
            ("login", "/data/keychainfs/login.keychain"), ("a b", "/data/keychainfs/a b.keychain"),
            (".hidden", "/data/keychainfs/.hidden.keychain"), ("...", "/data/keychainfs/....keychain"),
            ("work.db", "/data/keychainfs/work.db.keychain"), ("/srv/work", "/srv/work"),
            ("/srv/../srv/work.keychain", "/srv/work.keychain"),
        ])
    func paths(text: String, path: String) {
        #expect(KeychainPath.isPathOrName(text))
        #expect(KeychainPath(named: text, locations: locations).path == path)
        #expect(KeychainPath(named: nil, locations: locations).path == "/data/keychainfs/login.keychain")
    }

    @Test(
        "C11: an empty name, '.', '..' and names like options are refused; './' makes a path of them",
        arguments: ["", ".", "..", ".keychain", "..keychain", "...keychain", "-", "-x", "--keychain", "-.keychain"])
    func noName(text: String) {
        #expect(!KeychainPath.isPathOrName(text))
        #expect(KeychainPath.isPathOrName("./" + text))
    }

    @Test("commands in messages use the name, quoted, or the path of a keychain elsewhere")
    func commands() {
        #expect(KeychainPath(named: nil, locations: locations).mountCommand == "keychainfs mount")
        #expect(KeychainPath(named: "login", locations: locations).mountCommand == "keychainfs mount")
        #expect(KeychainPath(named: "work", locations: locations).mountCommand == "keychainfs mount --keychain work")
        #expect(
            KeychainPath(path: "/data/keychainfs/my work.keychain", locations: locations).mountCommand
                == "keychainfs mount --keychain 'my work'")
        for path in ["/srv/work.keychain", "/data/keychainfs/work", "/data/keychainfs/-x.keychain"] {
            #expect(
                KeychainPath(path: path, locations: locations).mountCommand == "keychainfs mount --keychain \(path)")
        }
    }

    @Test("the names in the data directory are those of its keychains")
    func names() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: directory) }
        let locations = DefaultPaths(environment: ["HOME": "/home/nobody-here", "XDG_DATA_HOME": directory.path])
        #expect(KeychainPath.names(in: locations).isEmpty)
        let store = directory.appendingPathComponent("keychainfs")
        try FileManager.default.createDirectory(at: store, withIntermediateDirectories: true)
        for name in [
            "work.keychain", "login.keychain", "login.keychain-wal", "login.keychain.replaced-2026", ".keychain",
            "-x.keychain",
        ] {
            try Data().write(to: store.appendingPathComponent(name))
        }
        #expect(KeychainPath.names(in: locations) == ["login", "work"])
    }
}
