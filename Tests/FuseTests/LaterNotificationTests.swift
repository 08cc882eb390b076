import CFuse3
import FileSystemCore
import FileSystemTesting
import Foundation
import Fuse
import SystemPackage
import Testing

/// Notifications that wait for a disk: neither the reply nor other notifications wait for them longer than they may.
@Suite struct LaterNotificationTests {
    private let fileSystem = MemoryFileSystem()
    private let released = TestSemaphore()

    private static func inode(_ number: UInt64, pages: Bool = false) -> FileSystemCore.Notification {
        .inode(NodeID(rawValue: number), pages: pages)
    }

    /// A notification whose sender waits until it is released.
    private var blocking: FileSystemCore.Notification {
        .allEntries(fallback: { [released] in
            released.wait()
            released.signal()
            return []
        })
    }

    private var blockingLater: FileSystemCore.Notification {
        .later { [released] in
            released.wait()
            released.signal()
            return [Self.inode(9)]
        }
    }

    private func sent(_ session: WireSession) -> [UInt64] {
        session.wire.connection.notifications.filter { $0.code == 2 }.map {
            $0.body.value(at: 0, as: fuse_notify_inval_inode_out.self).ino
        }
    }

    private func seconds(_ body: () throws -> Void) rethrows -> TimeInterval {
        let start = Date()
        try body()
        return Date().timeIntervalSince(start)
    }

    private func notify(_ session: WireSession, _ notifications: [FileSystemCore.Notification]) throws {
        fileSystem.script.withLock { $0.notifications = notifications }
        var request = Request(caller: PathClient(session.wire).caller)
        try session.wire.setxattr(
            &request, node: .root, name: Array("user.notify".utf8), value: [UInt8]().span.bytes, flags: [])
    }

    @Test("L2: what comes later precedes the reply if it comes soon") func soon() throws {
        let session = try WireSession(fileSystem)
        defer { session.stop() }
        try notify(session, [Self.inode(7, pages: true), .wipeStacks, .later { [Self.inode(8)] }, Self.inode(6)])
        let notifications = session.wire.connection.notifications
        #expect(Set(sent(session)) == [6, 7, 8])
        let replies = Set(notifications.map(\.repliesBefore))
        #expect(replies.count == 1)
    }

    @Test(
        "L2, S2: a reply does not wait for a notification that waits for a disk, which is sent when the disk responds")
    func disk() throws {
        let session = try WireSession(fileSystem)
        defer { session.stop() }
        let shortest = try (0..<3).map { _ in
            try seconds { try notify(session, [Self.inode(7), .wipeStacks, blockingLater]) }
        }.min()
        #expect(try #require(shortest) < 0.5)
        #expect(sent(session) == [7, 7, 7])
        // Other notifications do not wait for it, either.
        session.session.notifier.send([Self.inode(8)])
        #expect(eventually { sent(session) == [7, 7, 7, 8] })
        released.signal()
        #expect(eventually { sent(session) == [7, 7, 7, 8, 9, 9, 9] })
    }

    private final class Name: Sendable {}

    @Test(
        "H2: names that were sent do not stay in memory while the rest of the list waits",
        arguments: [43, 44] as [UInt32])
    func memory(_ minor: UInt32) throws {
        let session = try WireSession(fileSystem, minor: minor)
        defer { session.stop() }
        weak var name: Name?
        try {
            let kept = Name()
            name = kept
            try notify(
                session, [.allEntries(fallback: { withExtendedLifetime(kept) { [] } }), .wipeStacks, blockingLater])
            fileSystem.script.withLock { $0.notifications = [] }
        }()
        #expect(eventually { name == nil })
        #expect(!sent(session).contains(9))
        released.signal()
        #expect(eventually { sent(session) == [9] })
    }

    @Test("L2, S2: such a list is sent although another notification waits, and waits 2 s for its own at most")
    func queue() throws {
        let session = try WireSession(fileSystem, minor: 43)
        defer { session.stop() }
        let other = TestThread.started { [notifier = session.session.notifier, blocking] in notifier.send([blocking]) }
        #expect(!other.join(seconds: 0.2))
        #expect(try seconds { try notify(session, [Self.inode(7), .later { [Self.inode(8)] }]) } < 1.5)
        #expect(Set(sent(session)) == [7, 8])
        let own = try seconds { try notify(session, [blocking, Self.inode(5), .later { [Self.inode(6)] }]) }
        #expect(own > 1.9 && own < 10)
        #expect(Set(sent(session)) == [7, 8, 5])
        released.signal()
        #expect(other.join(seconds: 10))
        #expect(eventually { Set(sent(session)) == [7, 8, 5, 6] })
    }

    @Test("H4: a session ends although a notification waits for a disk, and sends nothing afterwards")
    func end() throws {
        let session = try WireSession(fileSystem)
        try notify(session, [Self.inode(7), blockingLater])
        let stop = TestThread.started { session.stop() }
        #expect(stop.join(seconds: 10))
        released.signal()
        // Without a session the list is finished immediately.
        session.session.notifier.send([.later { [] }])
    }
}
