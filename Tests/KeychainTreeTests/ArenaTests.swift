import FileSystemCore
import Foundation
import Keychain
import SecretCrypto
import SystemPackage
import Testing

@testable import KeychainTree

/// Plaintext is in the arena only while a reply is created.
@Suite struct ArenaTests {
    private static let path = "generic-passwords/s/a"

    private static func process(with text: String) throws -> TreeProcess {
        let process = TreeProcess(try TreeFixture(commands: LockCommand()))
        try process.mkdir("generic-passwords/s")
        try process.put(path, text)
        return process
    }

    /// Returns whether the arena contained the text during the reply to a READ.
    private static func isHeldWhileAnswered(_ text: String, of file: TreeProcess.Descriptor, _ process: TreeProcess)
        throws
        -> Bool
    {
        var isHeld = false
        try process.ask { (request) throws(Errno) in
            try process.tree.read(
                &request, node: file.node, handle: file.opened.handle, offset: 0, size: 1000, owner: process.owner
            ) { _, _ in isHeld = SecretArena.shared.contains(Array(text.utf8)) }
        }
        return isHeld
    }

    @Test("H1: a value that is read, and a staged value, are in the arena until the reply is sent")
    func wipedAfterTheReply() throws {
        let (text, staged) = ("canary-\(UUID().uuidString)", "canary-\(UUID().uuidString)")
        let process = try Self.process(with: text)
        #expect(!SecretArena.shared.contains(Array(text.utf8)))
        let reader = try process.open(Self.path)
        #expect(try Self.isHeldWhileAnswered(text, of: reader, process), "the search does not find what is there")
        #expect(!SecretArena.shared.contains(Array(text.utf8)))
        let writer = try process.open(Self.path, .readWrite)
        try process.write(writer, staged)
        #expect(!SecretArena.shared.contains(Array(staged.utf8)))
        #expect(try Self.isHeldWhileAnswered(staged, of: writer, process))
        #expect(!SecretArena.shared.contains(Array(staged.utf8)))
        try process.close(writer)
        try process.close(reader)
        #expect(!SecretArena.shared.contains(Array(staged.utf8)))
    }

    @Test("H2, L2: a lock has the kernel forget and the stacks wiped, and then waits for what it has missed")
    func lock() throws {
        let process = try Self.process(with: "value")
        let notifications = process.tree.lock()
        let kinds = notifications.map { String(describing: $0).prefix { $0 != "(" } }
        #expect(kinds == ["allEntries", "inodes", "wipeStacks", "inodes", "later", "later"])
    }

    @Test("H1: without a free slab read and write wait a second, then fail with ENOMEM; nothing is lost, a lock works")
    func exhausted() async {
        await #expect(processExitsWith: .exitCode(0)) {
            guard let process = try? Self.process(with: "old"), let reader = try? process.open(Self.path),
                let writer = try? process.open(Self.path, .writeOnly),
                let lock = try? process.open(".keychainfs/lock", .writeOnly)
            else { exit(1) }
            do {
                var holders: [SlabHolder] = []
                var size = 1 << 20
                while size >= 32 {
                    guard SecretArena.shared.capacity - SecretArena.shared.bytesInUse >= size,
                        let holder = try? SlabHolder(size)
                    else {
                        size /= 2
                        continue
                    }
                    holders.append(holder)
                }
                for call in [{ _ = try process.read(reader) }, { try process.write(writer, "new", at: 1) }] {
                    let start = ContinuousClock.now
                    do {
                        try call()
                        exit(2)
                    } catch {
                        guard error as? Errno == .noMemory else { exit(3) }
                    }
                    let waited = ContinuousClock.now - start
                    guard waited > .milliseconds(900), waited < .seconds(5) else { exit(4) }
                }
                guard !holders.isEmpty else { exit(5) }
                // L4: a lock needs none.
                guard (try? process.write(lock, "lock\n")) != nil,
                    process.tree.keychain.keys.state == .locked
                else { exit(7) }
            }
            process.release(writer)
            guard (try? process.tree.unlock(passphrase: try TreeFixture.secret())) != nil,
                let reader = try? process.open(Self.path),
                let writer = try? process.open(Self.path, .writeOnly)
            else { exit(8) }
            guard (try? process.read(reader)) == Array("old".utf8), (try? process.write(writer, "new")) != nil,
                (try? process.close(writer)) != nil, (try? process.cat(Self.path)) == "new"
            else { exit(6) }
            exit(0)
        }
    }
}

/// Locks on any command.
private struct LockCommand: ControlCommandHandler {
    func status(of tree: KeychainFileSystem) -> [UInt8] { [] }

    func run(_ command: RawSpan, on tree: KeychainFileSystem, request: inout Request) throws(KeychainFault) -> [UInt8] {
        request.notificationsBeforeReply += tree.lock()
        return []
    }
}

/// Holds a slab.
private final class SlabHolder {
    let bytes: SecretBytes
    init(_ count: Int) throws { bytes = try SecretBytes(count: count) }
}
