import Foundation
import LinuxSupport
import SystemPackage
import Testing

@Suite("Permissions of files")
struct FileAccessTests {
    @Test("mode, owner and kind of a file, and of a symbolic link itself")
    func status() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("access-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = directory.appendingPathComponent("file").path
        #expect(FileManager.default.createFile(atPath: file, contents: nil, attributes: [.posixPermissions: 0o640]))
        let access = try FileAccess(of: file)
        #expect(access.mode == 0o640 && !access.isDirectory)
        #expect(try FileAccess(of: directory.path).isDirectory)
        try FileManager.default.createSymbolicLink(atPath: file + "2", withDestinationPath: directory.path)
        #expect(try !FileAccess(of: file + "2").isDirectory)
        #expect(throws: Errno.noSuchFileOrDirectory) { try FileAccess(of: file + "3") }
        try FileAccess.require(.read, of: file)
        #expect(throws: Errno.permissionDenied) { try FileAccess.require(.search, of: file) }
    }

    @Test("a user has the name that the system's accounts contain")
    func names() {
        #expect(UserAccount.name(of: 0) == "root")
        #expect(UserAccount.name(of: 4_000_000_000) == nil)
        #expect(UserAccount.identifier(of: "root") == 0)
    }

    @Test("files of a tmpfs are in memory")
    func memory() {
        #expect(FileSystemType.isInMemory("/dev/shm"))
        #expect(!FileSystemType.isInMemory("/proc"))
        #expect(!FileSystemType.isInMemory("/nonexistent"))
    }
}
