import CFuse3
import FileSystemCore
import FileSystemTesting
import Fuse
import SystemPackage
import Testing

/// The notifications to the kernel, and their order.
@Suite struct NotificationTests {
    let fileSystem = MemoryFileSystem()

    private func entry(_ name: String) throws -> EntryReference {
        EntryReference(parent: .root, name: try #require(EntryName(name)))
    }

    @Test("F10: notifications precede the reply") func order() throws {
        let session = try WireSession(fileSystem)
        defer { session.stop() }
        let client = PathClient(session.wire)
        try client.put("/a", "x")
        let removed = try entry("gone")
        fileSystem.script.withLock {
            $0.notifications = [
                .entry(removed), .inode(NodeID(rawValue: 7), pages: false), .inode(NodeID(rawValue: 8), pages: true),
                .allEntries(fallback: { [] }),
            ]
        }
        var request = Request(caller: client.caller)
        // The earlier replies: INIT, and those of `put`.
        let before = fileSystem.calls.count
        _ = before
        try session.wire.setxattr(
            &request, node: .root, name: Array("user.notify".utf8), value: [UInt8]().span.bytes, flags: [])
        let sent = session.wire.connection.notifications
        try #require(sent.count == 4)
        #expect(sent.map(\.code) == [3, 2, 2, 8])
        #expect(sent[0].body.value(at: 0, as: fuse_notify_inval_entry_out.self).parent == 1)
        #expect(sent[0].body.dropFirst(16).elementsEqual("gone\0".utf8))
        let attributes = sent[1].body.value(at: 0, as: fuse_notify_inval_inode_out.self)
        #expect(attributes.ino == 7 && attributes.off < 0)
        let pages = sent[2].body.value(at: 0, as: fuse_notify_inval_inode_out.self)
        #expect(pages.ino == 8 && pages.off == 0 && pages.len == 0)
        #expect(sent[3].body.isEmpty)
        // The reply of SETXATTR came after the notifications.
        let statfs = session.wire.connection.call(WireRequest(FUSE_STATFS))
        #expect(statfs.error == 0)
        let seen = sent[0].repliesBefore
        #expect(sent.allSatisfy { $0.repliesBefore == seen })
        session.session.notifier.send([.inode(NodeID(rawValue: 9), pages: false)])
        #expect(eventually { session.wire.connection.notifications.count == 5 })
        #expect(session.wire.connection.notifications.last?.repliesBefore == seen + 2)
    }

    @Test("F10: notifications come before an error, and before contents") func beforeErrorsAndContents() throws {
        let session = try WireSession(fileSystem)
        defer { session.stop() }
        let client = PathClient(session.wire)
        try client.put("/a", "contents")
        fileSystem.script.withLock {
            $0.notifications = [.inode(.root, pages: false)]
            $0.readNotifies = true
        }
        #expect(try client.text("/a") == "contents")
        #expect(!session.wire.connection.notifications.isEmpty)
        let count = session.wire.connection.notifications.count
        // The name exists: setxattr fails without notifications; the rename below notifies of both names.
        try client.put("/b", "")
        #expect(client.errno { c throws(Errno) in try c.setxattr("/a", "user.rename", "b") } == .fileExists)
        try client.setxattr("/a", "user.rename", "c")
        let names = session.wire.connection.notifications.dropFirst(count).map { Array($0.body.dropFirst(16)) }
        #expect(names == [Array("a\0".utf8), Array("c\0".utf8)])
    }

    @Test("F10: before protocol 7.44 every name is invalidated by its own notification") func fallback() throws {
        let session = try WireSession(fileSystem, minor: 43)
        defer { session.stop() }
        let names = [try entry("a"), try entry("b")]
        session.session.notifier.send([.allEntries(fallback: { names })])
        #expect(eventually { session.wire.connection.notifications.map(\.code) == [3, 3] })
    }

    @Test("L2: many nodes are invalidated one by one") func manyNodes() throws {
        let session = try WireSession(fileSystem)
        defer { session.stop() }
        var nodes = NodeSet()
        let numbers: Set<UInt64> = [2, 63, 64, 65, 1_000_000, .max]
        for number in numbers { nodes.insert(NodeID(rawValue: number)) }
        session.session.notifier.send([.inodes(nodes, pages: true)])
        #expect(eventually { session.wire.connection.notifications.count == numbers.count })
        let notifications = session.wire.connection.notifications.map {
            $0.body.value(at: 0, as: fuse_notify_inval_inode_out.self)
        }
        #expect(Set(notifications.map(\.ino)) == numbers)
        #expect(notifications.allSatisfy { $0.off == 0 && $0.len == 0 })
    }
}
