import Foundation
import GRDB
import Glibc
import Keychain
import KeychainTesting
import SystemPackage
import Testing

@testable import KeychainStorage

@Suite("compaction of a store's file")
struct CompactionTests {
    /// The rows that stay. Each has a short secret and every 8th one of 100 kB.
    private static let kept = Array(1...16)
    private static let removed = Array(17...40)
    private static let longSecret = 200_000

    private let scratch: TemporaryDirectory

    init() throws { scratch = try TemporaryDirectory() }

    private func secret(_ row: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(truncatingIfNeeded: row), count: row % 8 == 0 ? 100_000 : 10)
    }

    /// A store of 5 MB, of which 4.8 MB are free.
    private func sparse(at path: String? = nil) throws -> SQLiteRecordStore {
        let store = try SQLiteRecordStore.create(at: path ?? scratch.keychain) { $0 }
        let record = try Samples.store()
        let items = try (Self.kept + Self.removed).map { try Samples.item(Int64($0)) }
        try store.write { writer throws(KeychainFault) in
            try writer.put(record)
            for item in items {
                let row = Int(item.id.rawValue)
                let isKept = Self.kept.contains(row)
                try writer.putWithSecret(
                    item, isKept ? secret(row) : [UInt8](repeating: 0xEE, count: Self.longSecret))
            }
        }
        try store.write { writer throws(KeychainFault) in
            for row in Self.removed { try writer.deleteItem(RowID(rawValue: Int64(row))) }
        }
        return store
    }

    private func expectComplete(_ path: String? = nil) throws {
        let store = try SQLiteRecordStore.open(path: path ?? scratch.keychain)
        defer { store.close() }
        #expect(try store.verifyStructure() == 0)
        #expect(try store.indexFaults() == 0)
        let count = try store.read { reader throws(KeychainFault) in try reader.itemCount() }
        #expect(count == Self.kept.count)
        for row in Self.kept {
            let id = RowID(rawValue: Int64(row))
            let found = try store.read { reader throws(KeychainFault) in try reader.secret(of: id) }
            #expect(found == secret(row))
        }
        // Writes after the compaction.
        let new = try Samples.item(99)
        try store.write { writer throws(KeychainFault) in
            try writer.put(new, secret: [1])
            try writer.deleteItem(new.id)
        }
    }

    private func expectOneFile() throws { #expect(try scratch.entries == ["login.keychain"]) }

    @Test("a compaction releases the free pages and keeps every row, the owner and the mode")
    func smaller() throws {
        let store = try sparse()
        chmod(scratch.keychain, 0o640)
        chown(scratch.keychain, geteuid() == 0 ? 1234 : geteuid(), getegid())
        let free = store.freeBytes
        #expect(free > 4 << 20)
        let released = try store.close(compacting: .atUnmount)
        #expect(released >= free)
        #expect(try #require(try scratch.size(of: "login.keychain")) < 400_000)
        #expect(try scratch.permissions(of: "login.keychain") == 0o640)
        let facts = try FileManager.default.attributesOfItem(atPath: scratch.keychain)
        #expect(facts[.ownerAccountID] as? UInt32 == (geteuid() == 0 ? 1234 : geteuid()))
        try expectOneFile()
        // A file of another owner is refused.
        chown(scratch.keychain, geteuid(), getegid())
        try expectComplete()
        #expect(throws: KeychainFault.notAvailable) { try store.read { _ in } }
    }

    @Test("a closed store, and a store that was compacted, are closed again without effect")
    func twice() throws {
        let store = try sparse()
        #expect(try store.close(compacting: .onRequest) > 0)
        #expect(try store.close(compacting: .onRequest) == 0)
        store.close()
        let again = try SQLiteRecordStore.open(path: scratch.keychain)
        #expect(try again.close(compacting: .onRequest) == 0)
        try expectOneFile()
        try expectComplete()
    }

    @Test("at an unmount, only a file of more than 4 MiB of which more than half is free is compacted")
    func policy() throws {
        func applies(_ pages: Int, _ free: Int) throws -> Bool {
            CompactionPolicy.atUnmount.applies(to: FileSpace(pages: pages, freePages: free, pageSize: 4096))
        }
        #expect(try !applies(1024, 1000) && applies(1025, 1000))
        #expect(try !applies(2000, 1000) && applies(2000, 1001))
        #expect(CompactionPolicy.onRequest.applies(to: FileSpace(pages: 20, freePages: 1, pageSize: 4096)))
        #expect(!CompactionPolicy.onRequest.applies(to: FileSpace(pages: 20, freePages: 0, pageSize: 4096)))
        let store = try sparse()
        let inode = UntimedInode(scratch.keychain)
        let mostly = CompactionPolicy(fileLimit: 0, freePercentLimit: 99, timeLimit: nil)
        #expect(try store.close(compacting: mostly) == 0)
        #expect(UntimedInode(scratch.keychain) == inode)
        try expectComplete()
    }

    @Test("a read-only store is closed and not modified")
    func readOnly() throws {
        try sparse().close()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: scratch.keychain))
        let store = try SQLiteRecordStore.open(path: scratch.keychain, access: .readOnly)
        #expect(try store.close(compacting: .onRequest) == 0)
        #expect(throws: KeychainFault.notAvailable) { try store.read { _ in } }
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.keychain)) == bytes)
    }

    @Test("a file opened through a symbolic link is compacted at its own path")
    func symbolicLink() throws {
        try sparse().close()
        try FileManager.default.createSymbolicLink(atPath: scratch["link"], withDestinationPath: scratch.keychain)
        let store = try SQLiteRecordStore.open(path: scratch["link"])
        #expect(try store.close(compacting: .onRequest) > 0)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: scratch["link"]) == scratch.keychain)
        try FileManager.default.removeItem(atPath: scratch["link"])
        try expectOneFile()
        try expectComplete()
    }

    @Test("a file with a second name is not compacted")
    func severalNames() throws {
        let store = try sparse()
        try FileManager.default.linkItem(atPath: scratch.keychain, toPath: scratch["other"])
        #expect(throws: StoreOpenError.severalNames) { try store.close(compacting: .onRequest) }
        try FileManager.default.removeItem(atPath: scratch["other"])
        try expectOneFile()
        try expectComplete()
    }

    @Test("a file that was moved away, or replaced, is not compacted, and nothing takes its name")
    func moved() throws {
        let store = try sparse()
        try FileManager.default.moveItem(atPath: scratch.keychain, toPath: scratch["moved"])
        #expect(throws: StoreOpenError.notFound) { try store.close(compacting: .onRequest) }
        #expect(try !scratch.entries.contains("login.keychain"))
        let other = try sparse(at: scratch["second"])
        try FileManager.default.moveItem(atPath: scratch["second"], toPath: scratch["second.moved"])
        try Data("another file".utf8).write(to: URL(fileURLWithPath: scratch["second"]))
        #expect(throws: StoreOpenError.notFound) { try other.close(compacting: .onRequest) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch["second"])) == Data("another file".utf8))
    }

    @Test("a file whose log has another name is not compacted")
    func movedLog() throws {
        let store = try sparse()
        let inode = UntimedInode(scratch.keychain)
        try FileManager.default.moveItem(atPath: scratch.keychain + "-wal", toPath: scratch["log"])
        #expect(throws: StoreOpenError.notFound) { try store.close(compacting: .onRequest) }
        #expect(UntimedInode(scratch.keychain) == inode)
    }

    @Test("a file with damaged pages is not compacted: a repair finds rows that a copy would lose")
    func damaged() throws {
        try sparse().close()
        try removeLastCell(of: "item")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: scratch.keychain)).dropFirst(4096)
        let store = try SQLiteRecordStore.open(path: scratch.keychain)
        #expect(throws: StoreOpenError.damaged) { try store.close(compacting: .onRequest) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.keychain)).dropFirst(4096) == bytes)
        try expectOneFile()
    }

    /// Decrements the number of cells of the table's last leaf: SQLite copies such a table without its last row and without an error.
    private func removeLastCell(of table: String) throws {
        let queue = try DatabaseQueue(path: scratch.keychain)
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?"
        let root = try #require(try queue.read { try Int.fetchOne($0, sql: sql, arguments: [table]) })
        try queue.close()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: scratch.keychain))
        var page = (root - 1) * 4096
        // An interior page: its right-most pointer.
        while bytes[page] == 5 {
            page = (bytes[page + 8..<page + 12].reduce(0) { $0 << 8 | Int($1) } - 1) * 4096
        }
        bytes[page + 4] -= 1
        try bytes.write(to: URL(fileURLWithPath: scratch.keychain))
    }

    @Test("a disk without space for the copy leaves the old file, complete")
    func fullDisk() throws {
        let disk = try SmallFileSystem(kilobytes: 20_000)
        let path = disk.path + "/login.keychain"
        let store = try sparse(at: path)
        try store.checkpoint()
        let filler = disk.path + "/filler"
        let fill = "head -c $((($(stat -f -c %a $1) - 128) * $(stat -f -c %S $1))) /dev/zero > $1/filler"
        try run("sh", ["-c", fill, "-", disk.path])
        #expect(throws: StoreOpenError.diskFull) { try store.close(compacting: .onRequest) }
        try FileManager.default.removeItem(atPath: filler)
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == ["login.keychain"])
        try expectComplete(path)
    }

    @Test("after the time limit the compaction is interrupted, and the old file stays, complete")
    func interrupted() throws {
        let store = try sparse()
        let inode = UntimedInode(scratch.keychain)
        let policy = CompactionPolicy(fileLimit: 0, freePercentLimit: 0, timeLimit: .zero)
        #expect(throws: StoreOpenError.io(9)) { try store.close(compacting: policy) }
        #expect(UntimedInode(scratch.keychain) == inode)
        try expectOneFile()
        try expectComplete()
    }

    @Test("a time limit interrupts a running statement", .timeLimit(.minutes(1)))
    func timeLimit() throws {
        let queue = try DatabaseQueue()
        let limit = try TimeLimit(.milliseconds(20)) { queue.interrupt() }
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
        #expect(throws: DatabaseError.self) { try queue.read { try Int.fetchOne($0, sql: endless) } }
        #expect(limit.isExceeded)
        limit.end()
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT 1") } == 1)
    }

    @Test("writers that wait for the store during a compaction fail, and write to neither file")
    func waitingWriters() async throws {
        let store = try sparse()
        let item = try Samples.item(200)
        let written = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var count = 0
                    while (try? store.write({ writer throws(KeychainFault) in try writer.put(item, secret: [7]) }))
                        != nil
                    {
                        count += 1
                    }
                    return count
                }
            }
            usleep(50_000)
            _ = try? store.close(compacting: .onRequest)
            return await group.reduce(0, +)
        }
        let opened = try SQLiteRecordStore.open(path: scratch.keychain)
        defer { opened.close() }
        let count = try opened.read { reader throws(KeychainFault) in try reader.itemCount() }
        #expect(count == Self.kept.count + (written > 0 ? 1 : 0))
        #expect(try scratch.entries.filter { !$0.hasPrefix("login.keychain") } == [])
    }

    @Test("a store that is opened during a compaction is in use or is the new file")
    func openedMeanwhile() async throws {
        for _ in 0..<20 {
            let store = try sparse()
            let path = scratch.keychain
            async let opened = Self.openWaiting(path)
            #expect(try store.close(compacting: .onRequest) > 0)
            let other = try await opened
            #expect(other.isInPlace)
            let item = try Samples.item(300)
            try other.write { writer throws(KeychainFault) in try writer.put(item, secret: [7]) }
            other.close()
            try FileManager.default.removeItem(atPath: path)
        }
    }

    @Test("a file that is replaced while it is being opened is in use, and no write goes to the old one")
    func replacedWhileOpening() throws {
        let store = try sparse()
        let old = try StoreFile(path: scratch.keychain)
        #expect(try store.close(compacting: .onRequest) > 0)
        #expect(throws: StoreOpenError.inUse(processID: 0)) { try WriterConnection.openForWriting(old) }
        try expectComplete()
    }

    @Test("a copy whose path was taken by another file has its own size")
    func takenPath() throws {
        let copy = try CompactCopy(of: FilePath(scratch.keychain))
        #expect(try copy.byteCount() == 0)
        try FileManager.default.removeItem(atPath: copy.path.string)
        try Data(repeating: 1, count: 5000).write(to: URL(fileURLWithPath: copy.path.string))
        #expect(try copy.byteCount() == 0)
    }

    @Test("a copy is in use for this process while its descriptor is open")
    func claimedCopy() throws {
        try sparse().close()
        var copy: CompactCopy? = try CompactCopy(of: FilePath(scratch.keychain))
        let path = try #require(copy?.path.string)
        try FileManager.default.linkItem(atPath: path, toPath: scratch["copy"])
        #expect(throws: StoreOpenError.inUse(processID: getpid())) { try SQLiteRecordStore.open(path: scratch["copy"]) }
        copy = nil
        #expect(throws: StoreOpenError.notAKeychain) { try SQLiteRecordStore.open(path: scratch["copy"]) }
    }

    private static func openWaiting(_ path: String) async throws -> SQLiteRecordStore {
        while true {
            do throws(StoreOpenError) {
                return try SQLiteRecordStore.open(path: path)
            } catch {
                guard case .inUse = error else { throw error }
                await Task.yield()
            }
        }
    }
}

/// The inode of a path.
private struct UntimedInode: Equatable {
    let number: UInt64?

    init(_ path: String) {
        number = try? (FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? UInt64)
    }
}
