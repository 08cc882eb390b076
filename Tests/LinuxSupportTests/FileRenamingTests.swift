import Foundation
import LinuxSupport
import SystemPackage
import Testing

@Suite struct FileRenamingTests {
    /// Runs `body` with a temporary directory.
    private func withDirectory(_ body: (String) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.path + "/names-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try body(directory)
    }

    @Test("A directory is created with its missing parents, mode 0700; an existing directory is not an error")
    func missingParents() throws {
        try withDirectory { directory in
            for _ in 1...2 { try FileRenaming.makeDirectory(directory + "/a/b/c") }
            for name in ["/a", "/a/b", "/a/b/c"] {
                let stat = try Stat(FilePath(directory + name))
                #expect(stat.type == .directory)
                #expect(stat.permissions == .ownerReadWriteExecute)
            }
            try FileManager.default.createSymbolicLink(
                atPath: directory + "/link", withDestinationPath: directory + "/a")
            try FileRenaming.makeDirectory(directory + "/link")
            try FileRenaming.makeDirectory(directory + "/link/b/d")
            #expect(try Stat(FilePath(directory + "/a/b/d")).type == .directory)
        }
    }

    @Test("A dangling link, a loop of links or a file in the path is an error, and nothing is created")
    func refusals() throws {
        try withDirectory { directory in
            let manager = FileManager.default
            try manager.createSymbolicLink(atPath: directory + "/dangling", withDestinationPath: directory + "/nowhere")
            try manager.createSymbolicLink(atPath: directory + "/loop", withDestinationPath: "loop")
            try Data().write(to: URL(fileURLWithPath: directory + "/file"))
            let refusals: [(String, Errno)] = [
                ("/dangling", .noSuchFileOrDirectory), ("/dangling/a/b", .noSuchFileOrDirectory),
                ("/file", .notDirectory), ("/file/a", .notDirectory),
                ("/loop", .tooManySymbolicLinkLevels), ("/loop/a", .tooManySymbolicLinkLevels),
            ]
            for (name, error) in refusals {
                #expect(throws: error, "\(name)") { try FileRenaming.makeDirectory(directory + name) }
            }
            #expect(Set(try manager.contentsOfDirectory(atPath: directory)) == ["dangling", "loop", "file"])
        }
    }

    @Test("A file system that creates no directories, and an empty path, are errors")
    func impossible() {
        #expect(throws: Errno.noSuchFileOrDirectory) { try FileRenaming.makeDirectory("/proc/.local/share/keychainfs") }
        #expect(throws: Errno.noSuchFileOrDirectory) { try FileRenaming.makeDirectory("") }
    }
}
