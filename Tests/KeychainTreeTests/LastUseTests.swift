import FileSystemCore
import Synchronization
import SystemPackage
import Testing

@testable import KeychainTree

/// L4: what counts as a use of a keychain that locks when it is not used.
@Suite struct LastUseTests {
    private let fixture: TreeFixture
    private let shell: TreeProcess
    private let item = "generic-passwords/s/a"

    init() throws {
        fixture = try TreeFixture()
        shell = TreeProcess(fixture)
        try shell.mkdir("generic-passwords/s")
        try shell.put(item, "secret")
    }

    /// Whether `body` counts: the clock has moved before it.
    private func isUse(_ body: () throws -> Void) rethrows -> Bool {
        let now = fixture.host.clock.withLock { clock in
            clock += .seconds(60)
            return clock
        }
        try body()
        return fixture.tree.lastUse == now
    }

    @Test("L4: reading and writing a secret is a use, through a descriptor that has long been open too")
    func uses() throws {
        #expect(try isUse { _ = try shell.cat(item) })
        let reader = try shell.open(item)
        #expect(try isUse { _ = try shell.read(reader) })
        #expect(try isUse { _ = try shell.read(reader, forPageCache: true) })
        let writer = try shell.open(item, [.readWrite])
        #expect(try isUse { _ = try shell.read(writer) })
        #expect(try isUse { try shell.write(writer, "x") })
        #expect(try isUse { try shell.ftruncate(writer, 2) })
        #expect(try isUse { try shell.fsync(writer) })
        #expect(try isUse { try shell.setattr(item) { $0.size = 1 } })
        #expect(try isUse { try shell.put("generic-passwords/s/new", "") })
    }

    @Test("L4: listing, reading attributes and control files do not count as use")
    func noUses() throws {
        #expect(try !isUse { _ = try shell.list("generic-passwords/s") })
        #expect(try !isUse { _ = try shell.stat(item) })
        #expect(try !isUse { try shell.setxattr(item, "user.color", "blue") })
        #expect(try !isUse { try shell.setattr(item) { $0.permissions = 0o400 } })
        #expect(try !isUse { try shell.rename(item, "generic-passwords/s/b") })
        #expect(
            try !isUse {
                let status = try shell.open(".keychainfs/status")
                _ = try shell.read(status)
                shell.release(status)
            })
        // To open is not to read.
        #expect(try !isUse { try shell.close(try shell.open("generic-passwords/s/b")) })
    }
}
