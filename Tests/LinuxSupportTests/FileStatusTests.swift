import Foundation
import Glibc
import LinuxSupport
import SystemPackage
import Testing

@Suite struct FileStatusTests {
    @Test("the identity of a file is that of stat(2), also through links")
    func likeStat() throws {
        let directory = FilePath(FileManager.default.temporaryDirectory.path).appending("status-\(UUID().uuidString)")
        try FileManager.default.createDirectory(atPath: directory.string, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: directory.string) }
        let path = directory.appending("file")
        let file = try FileDescriptor.open(path, .writeOnly, options: [.create], permissions: [.ownerReadWrite])
        _ = try file.writeAll(Array("seven".utf8))
        try file.close()
        let link = directory.appending("link")
        #expect(symlink(path.string, link.string) == 0)
        let stat = try Stat(path)
        for name in [path, link] {
            let status = try #require(FileStatus(at: name.string))
            #expect(status.device == UInt64(stat.deviceID.rawValue))
            #expect(status.inode == UInt64(stat.inode.rawValue))
            #expect(status.size == 5)
        }
        #expect(FileStatus(at: path.string + "-not-there") == nil)
        #expect(try FileStatus.ofExisting(path.string + "-not-there")?.size == nil)
        #expect(try FileStatus.ofExisting(path.string + "/below")?.size == nil)
        // A file that cannot be examined is not reported as missing.
        let long = directory.appending(String(repeating: "x", count: 300)).string
        #expect(throws: Errno.fileNameTooLong) { try FileStatus.ofExisting(long) }
        // A device of another number than the disk's.
        #expect(try FileStatus(at: "/dev/null")?.device == UInt64(Stat("/dev/null").deviceID.rawValue))
    }
}
