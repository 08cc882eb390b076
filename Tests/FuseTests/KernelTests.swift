import CFuse3
import FileSystemCore
import FileSystemTesting
import Foundation
import LinuxSupport
import SystemPackage
import Testing

@testable import Fuse

/// Behavior that needs the kernel.
@Suite struct KernelTests {
    let fileSystem = MemoryFileSystem()

    @Test func cachedNames() throws {
        fileSystem.script.withLock {
            $0.entryTimeout = 3600
            $0.attributeTimeout = 3600
            $0.negativeTimeout = 3600
        }
        let mount = try MountedSession(fileSystem)
        defer { mount.stop() }
        try mount.client.put("/a", "x")
        for _ in 0..<5 {
            #expect(mount.client.exists("/a"))
            #expect(!mount.client.exists("/none"))
        }
        #expect(fileSystem.count("lookup none") == 1)
        #expect(fileSystem.count("lookup a") == 1)
    }

    @Test("F10: after FUSE_NOTIFY_INC_EPOCH the kernel looks up every name again") func epoch() throws {
        fileSystem.script.withLock { $0.entryTimeout = 3600 }
        let mount = try MountedSession(fileSystem)
        defer { mount.stop() }
        try mount.client.put("/a", "x")
        _ = mount.client.exists("/a")
        let before = fileSystem.count("lookup a")
        _ = mount.client.exists("/a")
        #expect(fileSystem.count("lookup a") == before)
        let name = EntryReference(parent: .root, name: try #require(EntryName("a")))
        mount.session.notifier.send([.allEntries(fallback: { [name] })])
        #expect(mount.client.exists("/a"))
        #expect(fileSystem.count("lookup a") == before + 1)
    }

    @Test("F10: inval_entry and inval_inode take effect before send returns") func invalidation() throws {
        fileSystem.script.withLock {
            $0.entryTimeout = 3600
            $0.attributeTimeout = 3600
        }
        let mount = try MountedSession(fileSystem)
        defer { mount.stop() }
        try mount.client.put("/a", "x")
        _ = mount.client.exists("/a")
        let lookups = fileSystem.count("lookup a")
        mount.session.notifier.send([.entry(EntryReference(parent: .root, name: try #require(EntryName("a"))))])
        _ = mount.client.exists("/a")
        #expect(fileSystem.count("lookup a") == lookups + 1)
        let file = try mount.client.open("/a", [])
        let node = try #require(fileSystem.state.withLock { $0.handles.first?.value })
        _ = try mount.client.fstat(file)
        let asked = fileSystem.count("getattr")
        _ = try mount.client.fstat(file)
        #expect(fileSystem.count("getattr") == asked)
        mount.session.notifier.send([.inode(node, pages: false)])
        _ = try mount.client.fstat(file)
        #expect(fileSystem.count("getattr") == asked + 1)
        try mount.client.close(file)
    }

    @Test("F10: a rename through setxattr hangs nothing while others create in the directory")
    func renameThroughSetxattr() throws {
        fileSystem.script.withLock { $0.entryTimeout = 3600 }
        let mount = try MountedSession(fileSystem)
        defer { mount.stop() }
        try mount.client.put("/moving-0", "x")
        let script = "i=0; while [ $i -lt 200 ]; do i=$((i+1)); : > \"$1/f$2.$i\"; done"
        let children = try (0..<8).map { number in
            try ChildProcess(
                .init(
                    executable: "/bin/sh", arguments: ["-c", script, "sh", mount.path, "\(number)"]))
        }
        let done = TestSemaphore()
        let failures = MutexBox(0)
        let mover = TestThread.started {
            for round in 0..<300 {
                let error = mount.client.errno { c throws(Errno) in
                    try c.setxattr("/moving-\(round)", "user.rename", "moving-\(round + 1)")
                }
                if error != nil || mount.client.exists("/moving-\(round)") { failures.withLock { $0 += 1 } }
            }
            done.signal()
        }
        #expect(done.wait(seconds: 30))
        #expect(mover.join())
        for child in children { #expect(child.wait() == 0) }
        #expect(failures.withLock { $0 } == 0)
        #expect(mount.client.exists("/moving-300"))
        #expect(try mount.client.list("/").count == 1601)
    }

    @Test("F1: what close(2) did is seen by the next open, without FLUSH") func truncateThenRead() throws {
        fileSystem.script.withLock { $0.opened.noFlush = true }
        let mount = try MountedSession(fileSystem)
        defer { mount.stop() }
        // In a separate process: a child that another test spawns in this process inherits the descriptors until its
        // exec.
        let script =
            "i=0; while [ $i -lt 300 ]; do printf $i >\"$1/a\"; test $(cat \"$1/a\") = $i || exit 1; i=$((i+1)); done"
        let child = try ChildProcess(.init(executable: "/bin/sh", arguments: ["-c", script, "sh", mount.path]))
        #expect(child.wait() == 0)
        #expect(fileSystem.calls.count { $0.hasPrefix("open ") } >= 599)
        // libfuse cannot ask for that before 3.11.
        #expect(FUSE_MINOR_VERSION < 11 || fileSystem.calls.allSatisfy { !$0.hasPrefix("flush") })
        #expect(fileSystem.state.withLock { $0.overlappingOpens } == 0)
    }

    @Test("H1: MAP_SHARED is refused on a direct file") func sharedMapping() throws {
        let mount = try MountedSession(fileSystem)
        defer { mount.stop() }
        try mount.client.put("/a", "x")
        let file = try mount.client.open("/a", [.readWrite])
        let memory = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, Int32(file), 0)
        #expect(memory == MAP_FAILED && errno == ENODEV)
        try mount.client.close(file)
    }

    @Test func largeFile() throws {
        let mount = try MountedSession(fileSystem)
        defer { mount.stop() }
        let bytes = (0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ ($0 >> 7)) }
        try mount.client.put("/a", bytes)
        #expect(try mount.client.contents("/a") == bytes)
        // Writes come as large as was agreed.
        #expect(fileSystem.calls.contains { $0.hasPrefix("write 1048576 ") })
    }

    @Test func unmounting() throws {
        let mount = try MountedSession(fileSystem)
        defer { mount.stop() }
        try mount.client.put("/a", "x")
        let entry = try #require(try MountTable.current().mount(at: mount.path))
        #expect(entry.type == MountedSession.type && entry.source == "test" && !entry.isReadOnly)
        let file = try mount.client.open("/a", [])
        #expect(throws: FuseError.busy) { try mount.session.unmount() }
        try mount.session.unmount(lazily: true)
        #expect(try MountTable.current().mount(at: mount.path) == nil)
        // Still served until the last file is closed.
        #expect(try mount.client.read(file, 10) == Array("x".utf8))
        try mount.client.close(file)
        #expect(mount.waitForEnd())
        #expect(throws: FuseError.notMounted) { try mount.session.unmount() }
    }

    @Test func exitUnmounts() throws {
        let mount = try MountedSession(fileSystem)
        defer { mount.stop() }
        let file = try mount.client.open("/a", [.create, .writeOnly])
        mount.session.exit()
        #expect(mount.waitForEnd())
        #expect(try MountTable.current().mount(at: mount.path) == nil)
        #expect(mount.client.errno { c throws(Errno) in try c.write(file, [1]) } != nil)
        _ = try? mount.client.close(file)
    }

    @Test func readOnlyAndRefusedOptions() throws {
        let mount = try MountedSession(fileSystem) { $0.isReadOnly = true }
        defer { mount.stop() }
        #expect(mount.client.errno { c throws(Errno) in try c.put("/a", "") } == .readOnlyFileSystem)
        #expect(try MountTable.current().mount(at: mount.path)?.isReadOnly == true)
        #expect(throws: FuseError.self) { try MountedSession(MemoryFileSystem()) { $0.extraOptions = ["nonsense"] } }
    }

    @Test func throughTheHelper() throws {
        let directory = try TemporaryDirectory()
        let helper = try MountHelper()
        let device = try helper.mount(
            at: directory.path, options: ["rw", "fsname=a\\,b", "subtype=keychainfs-test", "max_read=131072"])
        let entry = try #require(try MountTable.current().mount(at: directory.path))
        #expect(entry.source == "a,b" && entry.type == MountedSession.type)
        let session = try Session(fileSystem, options: SessionOptions(source: "a", subtype: "b"))
        try session.attach(to: device)
        let thread = TestThread.started { _ = try? session.run() }
        #expect(try MountedClient(root: directory.path).list("/") == [])
        try unmountWhenIdle { try helper.unmount(directory.path, lazily: false) }
        #expect(thread.join())
        #expect(throws: FuseError.notMounted) { try helper.unmount(directory.path, lazily: false) }
        #expect(throws: FuseError.self) { try helper.mount(at: directory.path + "/none", options: ["rw"]) }
    }
}
