import Foundation
import Glibc
import LinuxSupport
import SystemPackage
import Testing

@testable import KeychainStorage

@Suite struct OpenDatabasesTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func identity(of path: String) throws -> FileIdentity {
        FileIdentity(try #require(FileStatus(at: path)))
    }

    @Test("S1: no new file gets the inode number of a registered file, even after that was deleted")
    func inodeNumber() throws {
        let path = directory.path + "/deleted"
        try Data().write(to: URL(fileURLWithPath: path))
        let file = try identity(of: path)
        #expect(try OpenDatabases.shared.claim(file, at: FilePath(path)))
        try FileManager.default.removeItem(atPath: path)
        for number in 0..<50 {
            let other = directory.path + "/\(number)"
            try Data().write(to: URL(fileURLWithPath: other))
            #expect(try identity(of: other) != file)
        }
        OpenDatabases.shared.release(file)
    }

    @Test(
        "S1: a file that was deleted or replaced before it was registered does not occupy its number"
    )
    func replaced() throws {
        let (path, other) = (directory.path + "/file", directory.path + "/other")
        for name in [path, other] { try Data().write(to: URL(fileURLWithPath: name)) }
        // The file at `other` has the number that another thread has read at `path`.
        let reused = try identity(of: other)
        #expect(throws: StoreOpenError.inUse(processID: 0)) {
            try OpenDatabases.shared.claim(reused, at: FilePath(path))
        }
        try FileManager.default.removeItem(atPath: path)
        #expect(throws: StoreOpenError.notFound) { try OpenDatabases.shared.claim(reused, at: FilePath(path)) }
        #expect(try OpenDatabases.shared.claim(reused, at: FilePath(other)))
        OpenDatabases.shared.release(reused)
    }

    @Test("S1: a file can be registered once, and again after its release")
    func once() throws {
        let path = directory.path + "/file"
        try Data().write(to: URL(fileURLWithPath: path))
        let file = try identity(of: path)
        #expect(try OpenDatabases.shared.claim(file, at: FilePath(path)))
        #expect(try !OpenDatabases.shared.claim(file, at: FilePath(path)))
        OpenDatabases.shared.release(file)
        #expect(try OpenDatabases.shared.claim(file, at: FilePath(path)))
        OpenDatabases.shared.release(file)
    }

    @Test("S1: registering and releasing a file releases no POSIX lock on it")
    func locks() throws {
        let path = directory.path + "/file"
        try Data().write(to: URL(fileURLWithPath: path))
        let file = try identity(of: path)
        let descriptor = try FileDescriptor.open(path, .readWrite)
        defer { try? descriptor.close() }
        var lock = flock(l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 0, l_len: 1, l_pid: 0)
        #expect(fcntl(descriptor.rawValue, F_SETLK, &lock) == 0)
        #expect(try OpenDatabases.shared.claim(file, at: FilePath(path)))
        #expect(try !OpenDatabases.shared.claim(file, at: FilePath(path)))
        OpenDatabases.shared.release(file)
        let fields = try String(contentsOfFile: "/proc/self/fdinfo/\(descriptor.rawValue)", encoding: .utf8)
        #expect(fields.contains("POSIX  ADVISORY  WRITE"))
    }
}
