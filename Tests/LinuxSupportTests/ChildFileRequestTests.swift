import Foundation
import Glibc
import LinuxSupport
import SystemPackage
import Testing

/// Requests of a child process to a file, including one that never responds.
@Suite("requests to files that may not respond")
struct ChildFileRequestTests {
    private let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
        "exchange-\(UUID().uuidString)"
    ).path

    init() throws { try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false) }

    private func remove() { try? FileManager.default.removeItem(atPath: directory) }

    /// Opens, sends the message and waits for the answer.
    private func outcome(_ path: String, _ message: [UInt8]? = nil, milliseconds: Int = 20_000) throws
        -> ChildFileRequest.Outcome
    {
        let path = FilePath(path)
        var exchange = try ChildFileRequest(
            directory: path.removingLastComponent().string, name: path.lastComponent?.string ?? "",
            isWritten: message != nil)
        let opening = exchange.wait(milliseconds: milliseconds)
        guard case .opened = opening else { return opening }
        let bytes = message ?? []
        exchange.send(bytes.span.bytes)
        return exchange.wait(milliseconds: milliseconds)
    }

    @Test("L4: a request returns the complete file", arguments: [0, 1, 4096, 300_000])
    func reads(_ count: Int) throws {
        defer { remove() }
        let contents = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
        try Data(contents).write(to: URL(fileURLWithPath: directory + "/file"))
        guard case .answered(contents) = try outcome(directory + "/file") else {
            Issue.record("no answer, or another one")
            return
        }
    }

    @Test("L4: a message of any length arrives completely", arguments: [1, 65_537, 1 << 20 - 1])
    func writes(_ count: Int) throws {
        defer { remove() }
        let message = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 5) }
        try Data().write(to: URL(fileURLWithPath: directory + "/file"))
        guard case .answered([]) = try outcome(directory + "/file", message) else {
            Issue.record("not written")
            return
        }
        #expect(FileManager.default.contents(atPath: directory + "/file").map { [UInt8]($0) } == message)
    }

    @Test(
        "H3: the file is opened below a directory without symbolic links, in a mount that is named before the message is sent"
    )
    func opening() throws {
        defer { remove() }
        let files = FileManager.default
        try files.createDirectory(atPath: directory + "/real", withIntermediateDirectories: false)
        try Data("old".utf8).write(to: URL(fileURLWithPath: directory + "/real/file"))
        for (link, target) in [("link", "real"), ("real/link", "file")] {
            try files.createSymbolicLink(atPath: "\(directory)/\(link)", withDestinationPath: target)
        }
        for name in ["link/file", "real/link"] {
            var exchange = try ChildFileRequest(directory: directory, name: name, isWritten: true)
            guard case .unopened = exchange.wait(milliseconds: 20_000) else {
                Issue.record("opened through a symbolic link: \(name)")
                continue
            }
        }
        // The directory itself may be named by a symbolic link. Without a message nothing is written.
        do {
            var exchange = try ChildFileRequest(directory: directory + "/link", name: "file", isWritten: true)
            guard case .opened(let mount) = exchange.wait(milliseconds: 20_000) else {
                Issue.record("not opened")
                return
            }
            #expect(mount == MountIdentity(at: directory) && mount.number > 0)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: directory + "/real/file")) == Data("old".utf8))
    }

    @Test("L4: what fails is reported, opening separately from the rest")
    func failures() throws {
        defer { remove() }
        guard case .unopened(.noSuchFileOrDirectory) = try outcome(directory + "/none"),
            case .unopened(.isDirectory) = try outcome(directory, [1]),
            case .refused(.isDirectory) = try outcome(directory),
            case .refused(.noSpace) = try outcome("/dev/full", [1]),
            case .refused(Errno(rawValue: EMSGSIZE)) = try outcome("/dev/zero"),
            case .refused(Errno(rawValue: EMSGSIZE)) = try outcome("/dev/null", [UInt8](repeating: 1, count: 1 << 20))
        else {
            Issue.record("another outcome")
            return
        }
    }

    @Test("L4: a request to a file that does not respond times out and leaves no process")
    func silence() throws {
        defer { remove() }
        try #require(mkfifo(directory + "/fifo", 0o600) == 0)
        guard case .silent = try outcome(directory + "/fifo", milliseconds: 50) else {
            Issue.record("a pipe without a writer has answered")
            return
        }
        // No process opens it any more: an open for writing finds no reader.
        let file = open(directory + "/fifo", O_WRONLY | O_NONBLOCK)
        #expect(file == -1 && errno == ENXIO)
    }

    // MARK: Orders

    private func order(_ name: String, in mount: MountIdentity) throws -> ChildFileRequest {
        try ChildFileRequest(directory: directory, name: name, order: Array("lock\n".utf8), in: mount)
    }

    @Test("L2: an order is written and answered without a message, and refused for a file in another mount")
    func order() throws {
        defer { remove() }
        let mount = try #require(MountIdentity(at: directory))
        try Data().write(to: URL(fileURLWithPath: directory + "/file"))
        var request = try order("file", in: mount)
        guard case .opened(mount) = request.wait(milliseconds: 20_000),
            case .answered([]) = request.wait(milliseconds: 20_000)
        else {
            Issue.record("not executed")
            return
        }
        #expect(FileManager.default.contents(atPath: directory + "/file") == Data("lock\n".utf8))
        try Data().write(to: URL(fileURLWithPath: directory + "/file"))
        var refused = try order("file", in: try #require(MountIdentity(at: "/proc")))
        guard case .opened = refused.wait(milliseconds: 20_000),
            case .refused(.canceled) = refused.wait(milliseconds: 20_000)
        else {
            Issue.record("written to another mount")
            return
        }
        #expect(FileManager.default.contents(atPath: directory + "/file") == Data())
        var absent = try order("none", in: mount)
        guard case .unopened(.noSuchFileOrDirectory) = absent.wait(milliseconds: 20_000) else {
            Issue.record("opened")
            return
        }
    }
}
