import Foundation
import LinuxSupport
import SystemPackage
import Testing

@testable import Keychain
@testable import KeychainStorage

@Suite("S2: another copy that is written over the file of an open keychain")
struct OverwrittenFileTests {
    private let scratch: TemporaryDirectory
    private let fixture: SQLiteKeychainFixture
    private let old: Data

    init() throws {
        scratch = try TemporaryDirectory()
        fixture = try SQLiteKeychainFixture(creating: scratch.keychain)
        for number in 0..<50 { try fixture.add("account \(number)", Array("old".utf8)) }
        try fixture.store.checkpoint()
        old = try Data(contentsOf: URL(fileURLWithPath: scratch.keychain))
        for number in 50..<400 { try fixture.add("account \(number)", Array("new".utf8)) }
        try fixture.store.checkpoint()
        _ = try fixture.keychain.verifyNow()
    }

    /// Writes bytes over the file, which stays the same inode.
    private func overwrite(with bytes: Data) throws {
        let file = try FileDescriptor.open(FilePath(scratch.keychain), .writeOnly)
        try file.closeAfter {
            try file.resize(to: Int64(bytes.count))
            _ = try file.writeAll(toAbsoluteOffset: 0, bytes)
        }
    }

    private func copy(of fixture: SQLiteKeychainFixture) throws {
        let path = scratch["copy"]
        defer { try? FileManager.default.removeItem(atPath: path) }
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        try fixture.store.copy(to: path, verify: fixture.ring.verifyLastCommit) { _ in }
    }

    /// The number of commits by which the other copy is newer than the older one. SQLite knows the number of pages of the
    /// open file, and reads nothing in a longer one.
    @Test("S2: the next write is refused and leaves the other copy as it is", arguments: [0, 1, 200, 500])
    func write(commits: Int) throws {
        let copy = try commits == 0 ? old : fork(commits)
        try overwrite(with: copy)
        let isLonger = commits == 500
        for name in ["x", "y"] { #expect(throws: KeychainFault.decode) { try fixture.add(name, [1]) } }
        #expect(fixture.keychain.integrity == .damaged && fixture.keychain.isOverwritten == !isLonger)
        #expect(try fixture.keychain.check().rowFault == (isLonger ? .rowsUnreadable : .anotherCopy))
        // Not even the log is begun.
        #expect(try scratch.size(of: "login.keychain-wal") == 0)
        fixture.close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.keychain)) == copy)
        let again = try SQLiteKeychainFixture(opening: scratch.keychain, directory: fixture.directory)
        #expect(try again.keychain.itemCount() == 50 + commits && again.isConsistent)
        try again.add("x", [1])
        again.close()
    }

    @Test("S2: without a write, a backup finds it and copies nothing")
    func withoutWrite() throws {
        try copy(of: fixture)
        try overwrite(with: old)
        #expect(throws: CopyError<KeychainFault>.source(.decode)) { try copy(of: fixture) }
        #expect(fixture.keychain.integrity == .damaged && fixture.keychain.isOverwritten)
        #expect(try fixture.keychain.verifiedIntegrity() == .damaged)
        fixture.close()
    }

    @Test("S2: a check and a requested verification look for changes first", arguments: [true, false])
    func verified(isCheck: Bool) throws {
        func isVerified() throws -> Bool {
            try isCheck ? fixture.isConsistent : fixture.keychain.verifiedIntegrity() == .verified
        }
        #expect(try isVerified())
        try overwrite(with: old)
        #expect(try !isVerified())
        #expect(fixture.keychain.isOverwritten && fixture.keychain.integrity == .damaged)
        fixture.close()
    }

    /// The older copy after commits of another program.
    private func fork(_ commits: Int) throws -> Data {
        let path = scratch["fork"]
        try old.write(to: URL(fileURLWithPath: path))
        let fork = try SQLiteKeychainFixture(opening: path, directory: fixture.directory)
        for number in 0..<commits { try fork.add("fork \(number)", [1]) }
        try fork.store.checkpoint()
        fork.close()
        return try Data(contentsOf: URL(fileURLWithPath: path))
    }
}
