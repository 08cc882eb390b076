import Foundation
import SystemPackage
import Testing

@testable import LinuxSupport

@Suite("Open directories")
struct OpenDirectoryTests {
    /// Runs `body` with the path of a temporary directory.
    private func withDirectory(_ body: (String) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.path + "/open-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }

    private func failure(_ body: () throws(Errno) -> Void) -> Errno? {
        do throws(Errno) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    @Test("a file is created once, private, and is opened, found and removed by its name")
    func files() throws {
        try withDirectory { path in
            let directory = try OpenDirectory(at: path)
            let file = try directory.create("a")
            #expect(try file.writeAll(Array("text".utf8)) == 4)
            try file.close()
            let attributes = try FileManager.default.attributesOfItem(atPath: path + "/a")
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
            #expect(failure { () throws(Errno) in _ = try directory.create("a") } == .fileExists)
            let opened = try directory.open("a", .readOnly)
            #expect(fcntl(opened.rawValue, F_GETFD) == FD_CLOEXEC)
            try opened.close()
            #expect(try directory.kind(of: "a") == .file)
            try directory.remove("a")
            #expect(failure { () throws(Errno) in _ = try directory.kind(of: "a") } == .noSuchFileOrDirectory)
        }
    }

    @Test("no symbolic link is followed, except in the path of the directory itself")
    func links() throws {
        try withDirectory { path in
            try FileManager.default.createDirectory(atPath: path + "/d", withIntermediateDirectories: false)
            _ = FileManager.default.createFile(atPath: path + "/f", contents: Data("x".utf8))
            for name in ["d", "f", "none"] {
                try FileManager.default.createSymbolicLink(
                    atPath: path + "/to-\(name)", withDestinationPath: path + "/" + name)
            }
            let directory = try OpenDirectory(at: path)
            #expect(failure { () throws(Errno) in _ = try directory.directory("to-d") } == .notDirectory)
            #expect(
                failure { () throws(Errno) in _ = try directory.open("to-f", .writeOnly) } == .tooManySymbolicLinkLevels
            )
            #expect(failure { () throws(Errno) in _ = try directory.create("to-none") } == .fileExists)
            #expect(try directory.kind(of: "to-d") == .file && !FileManager.default.fileExists(atPath: path + "/none"))
            let linked = try OpenDirectory(at: path + "/to-d")
            try linked.makeDirectory("new")
            #expect(FileManager.default.fileExists(atPath: path + "/d/new"))
        }
    }

    @Test("a directory that is renamed stays the same, and another one at its path does not replace it")
    func renamed() throws {
        try withDirectory { path in
            try FileManager.default.createDirectory(atPath: path + "/d", withIntermediateDirectories: false)
            let directory = try OpenDirectory(at: path + "/d")
            try FileManager.default.moveItem(atPath: path + "/d", toPath: path + "/moved")
            try FileManager.default.createDirectory(atPath: path + "/d", withIntermediateDirectories: false)
            try directory.makeDirectory("in")
            #expect(
                FileManager.default.fileExists(atPath: path + "/moved/in") && directory.mount == MountIdentity(at: path)
            )
            #expect(try directory.kind(of: "in") == .directory)
            try directory.removeDirectory("in")
            #expect(failure { () throws(Errno) in try directory.removeDirectory("in") } == .noSuchFileOrDirectory)
        }
    }
}
