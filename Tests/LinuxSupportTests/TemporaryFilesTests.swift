import Foundation
import Glibc
import LinuxSupport
import Synchronization
import SystemPackage
import Testing

/// Descriptors of one process exclude each other with flock(2) as those of several do.
@Suite("files that are being written")
struct TemporaryFilesTests {
    private let directory: FilePath
    private var drafts: TemporaryFiles { TemporaryFiles(in: directory) }

    init() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("drafts-\(UUID().uuidString)").path
        directory = FilePath(path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: directory.string).sorted() }
    }

    private func remove() { try? FileManager.default.removeItem(atPath: directory.string) }

    private func make(_ name: String) throws {
        try Data().write(to: URL(fileURLWithPath: directory.appending(name).string))
    }

    @Test("S1: concurrent removals of leftovers never remove a temporary file in use")
    func fresh() throws {
        let begun = ContinuousClock.now
        defer { remove() }
        let isOver = Atomic(false)
        let ended = DispatchGroup()
        ended.enter()
        Thread.detachNewThread { [drafts] in
            while !isOver.load(ordering: .relaxed) { drafts.removeLeftovers() }
            ended.leave()
        }
        var lost = 0
        let end = Date(timeIntervalSinceNow: 2)
        while Date() < end {
            let (file, path) = try drafts.create()
            // Long enough for a removal that has seen the file before it was locked.
            usleep(20)
            if (try? Stat(file).inode) != (try? Stat(path).inode) { lost += 1 }
            unlink(path.string)
            try file.close()
        }
        isOver.store(true, ordering: .relaxed)
        ended.wait()
        #expect(lost == 0)
        #expect(ContinuousClock.now - begun < .seconds(120))
    }

    @Test("S1: a removal releases the file lock after the name is deleted, not before")
    func held() throws {
        let begun = ContinuousClock.now
        defer { remove() }
        let path = directory.appending(".keychainfs-new-1")
        var met = 0
        let end = Date(timeIntervalSinceNow: 2)
        while Date() < end {
            try make(".keychainfs-new-1")
            let file = try FileDescriptor.open(path, .readWrite)
            let ended = DispatchGroup()
            ended.enter()
            Thread.detachNewThread { [drafts] in
                while (try? Stat(path, followTargetSymlink: false)) != nil { drafts.removeLeftovers() }
                ended.leave()
            }
            var isTaken = false
            while true {
                guard flock(file.rawValue, LOCK_SH | LOCK_NB) == 0 else {
                    isTaken = true
                    continue
                }
                let links = try Stat(file).linkCount
                if isTaken { #expect(links == 0) }
                flock(file.rawValue, LOCK_UN)
                if links == 0 { break }
                // So that the other one finds it unlocked.
                usleep(10)
            }
            met += isTaken ? 1 : 0
            try file.close()
            ended.wait()
        }
        #expect(met > 0)
        #expect(ContinuousClock.now - begun < .seconds(120))
    }

    @Test("a temporary file that another process has locked is left alone until it is unlocked")
    func taken() throws {
        defer { remove() }
        try make(".keychainfs-new-1")
        let path = directory.appending(".keychainfs-new-1")
        let file = try FileDescriptor.open(path, .readWrite)
        #expect(flock(file.rawValue, LOCK_EX | LOCK_NB) == 0)
        drafts.removeLeftovers()
        #expect(try names == [".keychainfs-new-1"])
        try file.close()
        drafts.removeLeftovers()
        #expect(try names.isEmpty)
    }

    @Test("a directory, a link or a pipe of such a name is not a temporary file and is not modified")
    func others() throws {
        defer { remove() }
        let manager = FileManager.default
        let names = ["directory", "link", "pipe"].map { TemporaryFiles.prefix + $0 }
        let paths = names.map { directory.appending($0).string }
        try manager.createDirectory(atPath: paths[0] + "/full", withIntermediateDirectories: true)
        try make("target")
        try manager.createSymbolicLink(atPath: paths[1], withDestinationPath: directory.appending("target").string)
        #expect(mkfifo(paths[2], 0o600) == 0)
        #expect(!drafts.isAnyInUse)
        drafts.removeLeftovers()
        #expect(try self.names == names + ["target"])
        #expect(manager.fileExists(atPath: paths[0] + "/full"))
    }

    @Test("without a directory nothing is removed, and no temporary file can be created")
    func missing() throws {
        remove()
        drafts.removeLeftovers()
        #expect(!drafts.isAnyInUse)
        #expect(throws: Errno.noSuchFileOrDirectory) { _ = try drafts.create() }
    }
}
