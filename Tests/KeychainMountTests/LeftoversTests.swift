import DeviceState
import Foundation
import LinuxSupport
import SystemPackage
import Testing

@testable import KeychainMount

@Suite("what killed processes leave")
struct LeftoversTests {
    private let directory: String

    init() throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("leftovers-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: directory).sorted() }
    }

    private var drafts: TemporaryFiles { TemporaryFiles(in: FilePath(directory)) }

    private func make(_ name: String, _ text: String = "") throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: directory + "/" + name))
    }

    private func text(_ name: String) -> String? {
        try? String(contentsOfFile: directory + "/" + name, encoding: .utf8)
    }

    @Test("abandoned temporary files are removed immediately, with SQLite's files next to them; others stay")
    func abandoned() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        for name in [".keychainfs-new-1", ".keychainfs-new-1-wal", ".keychainfs-new-2-journal", "login.keychain"] {
            try make(name)
        }
        let draft = try TemporaryFile(for: directory + "/backup")
        let own = URL(fileURLWithPath: draft.path).lastPathComponent
        #expect(try names == [own, "login.keychain"].sorted())
        try make(own + "-wal")
        drafts.removeLeftovers()
        #expect(try names == [own, own + "-wal", "login.keychain"].sorted())
        #expect(drafts.isAnyInUse)
        try draft.install()
        drafts.removeLeftovers()
        #expect(try names == ["backup", "login.keychain"])
        #expect(!drafts.isAnyInUse)
    }

    @Test(
        "S1: after an interrupted restore the keychain has its log again, and its second name is removed",
        arguments: 0...3)
    func replaced(step: Int) throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = directory + "/login.keychain"
        try make("login.keychain", "old")
        try make("login.keychain-wal", "log")
        let replaced = ReplacedKeychain(of: path, time: "20261121T054408Z")
        // Its steps: a second name of the file, one of its log, and the log's first name goes.
        if step == 3 { try replaced.keep() }
        if step == 1 || step == 2 { try FileManager.default.linkItem(atPath: path, toPath: replaced.kept) }
        if step == 2 { try FileManager.default.linkItem(atPath: path + "-wal", toPath: replaced.kept + "-wal") }
        #expect((ReplacedKeychain.interrupted(of: path) != nil) == (step > 0))
        ReplacedKeychain.interrupted(of: path)?.undo()
        #expect(try names == ["login.keychain", "login.keychain-wal"])
        #expect(text("login.keychain") == "old" && text("login.keychain-wal") == "log")
    }

    @Test("S1: a log that holds nothing, which could not be removed, gets no second name")
    func replacedWithEmptyLog() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try make("login.keychain", "old")
        try make("login.keychain-wal", "")
        try ReplacedKeychain(of: directory + "/login.keychain", time: "20261121T054408Z").keep()
        #expect(try names == ["login.keychain", "login.keychain-wal", "login.keychain.replaced-20261121T054408Z"])
    }

    @Test("S1: files preserved by a finished restore, or in use by a running one, are left alone")
    func finished() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = directory + "/login.keychain"
        try make("login.keychain", "old")
        let replaced = ReplacedKeychain(of: path, time: "20261121T054408Z")
        try replaced.keep()
        let draft = try TemporaryFile(for: path)
        try draft.write(Array("new".utf8))
        #expect(ReplacedKeychain.interrupted(of: path) == nil)
        try draft.replace()
        #expect(ReplacedKeychain.interrupted(of: path) == nil)
        #expect(text("login.keychain") == "new" && text("login.keychain.replaced-20261121T054408Z") == "old")
        try FileManager.default.linkItem(atPath: path, toPath: directory + "/another name")
        #expect(ReplacedKeychain.interrupted(of: path) == nil)
    }
}
