import FileSystemCore
import Keychain
import KeychainTesting
import SystemPackage
import Testing

@testable import KeychainTree

/// A listing that is remembered shows what is there, costs nothing, and outlives no lock.
@Suite struct ListingCacheTests: OneService {
    private let fixture: TreeFixture
    private let shell: TreeProcess

    init() throws {
        fixture = try TreeFixture()
        shell = TreeProcess(fixture)
        try shell.mkdir(dir)
        for number in 0..<20 { try shell.put("\(dir)/n\(number)", "x") }
    }

    /// What READDIRPLUS tells of all names, and takes back the lookups.
    private func entries() throws -> [String: Attributes] {
        let node = try shell.entry(dir).node
        let handle = try shell.ask { (request) throws(Errno) in try fixture.tree.opendir(&request, node: node) }
        var sink = EntrySink()
        try shell.ask { (request) throws(Errno) in
            try fixture.tree.readdir(&request, node: node, handle: handle, offset: 0, into: &sink)
        }
        for entry in sink.entries.values { fixture.tree.forget(entry.node, count: 1) }
        return sink.entries.mapValues(\.attributes)
    }

    @Test("S5: a directory that is listed again is not read again")
    func noSecondReading() throws {
        let first = try entries()
        #expect(first.count == 20)
        // Every row is changed behind the keychain's back, and none would open: whoever shows them has not looked.
        let commit = fixture.keychain.commitCount
        let listing = try #require(fixture.tree.listings.listing(of: try row(), since: commit))
        var records = fixture.store.records
        for entry in listing {
            var record = try #require(records.itemRecords[entry.row])
            record.version += 1
            try records.put(record, secret: nil)
        }
        fixture.store.records = records
        #expect(try entries() == first)
        #expect(try shell.list(dir).count == 20)
        fixture.tree.listings.drop()
        #expect(throws: Errno.corrupt) { try shell.list(dir) }
    }

    @Test("T6: names and attributes that change between two listings are seen in the second")
    func changesAreSeen() throws {
        _ = try entries()
        try shell.unlink("\(dir)/n3")
        try shell.rename("\(dir)/n4", "\(dir)/moved")
        try shell.put("\(dir)/n5", "longer")
        try shell.put("\(dir)/new", "")
        try shell.setattr("\(dir)/n6") { $0.permissions = 0o640 }
        let after = try entries()
        #expect(after.count == 20)
        #expect(after["n3"] == nil && after["n4"] == nil && after["moved"] != nil && after["new"]?.size == 0)
        #expect(after["n5"]?.size == 6)
        #expect(after["n6"]?.permissions == 0o640)
    }

    @Test("F2: what is staged shows in a listing that was remembered")
    func stagedIsSeen() throws {
        _ = try entries()
        let writer = try shell.open("\(dir)/n7", [.writeOnly])
        let pending = try shell.open("\(dir)/pending", [.writeOnly, .create])
        try shell.write(writer, "staged")
        let during = try entries()
        #expect(during["n7"]?.size == 6)
        #expect(during["pending"]?.size == 0)
        try shell.close(pending)
        try shell.close(writer)
    }

    @Test("L1, H2: a lock forgets remembered listings, and a locked directory is not listed from memory")
    func lockForgets() throws {
        _ = try entries()
        let commit = fixture.keychain.commitCount
        #expect(fixture.tree.listings.listing(of: try row(), since: commit) != nil)
        _ = fixture.tree.lock()
        #expect(fixture.tree.listings.listing(of: try row(), since: commit) == nil)
        #expect(throws: Errno.noKey) { try shell.list(dir) }
        try fixture.tree.unlock(passphrase: try TreeFixture.secret())
        #expect(try entries().count == 20)
    }

    @Test("S5: a directory beyond the limit is streamed, and nothing of it is remembered")
    func largeIsStreamed() throws {
        fixture.tree.listings.noteLarge(try row())
        #expect(try entries().count == 20)
        #expect(fixture.tree.listings.listing(of: try row(), since: fixture.keychain.commitCount) == nil)
    }

    private func row() throws -> RowID {
        let entry = try shell.entry(dir)
        defer { fixture.tree.forget(entry.node, count: 1) }
        return RowID(rawValue: Int64(entry.attributes.inode.rawValue))
    }
}

/// Takes everything, with entries.
private struct EntrySink: DirectorySink {
    var entries: [String: Entry] = [:]
    let wantsEntries = true

    mutating func add(_ name: EntryName, inode: InodeNumber, type: FileSystemCore.FileType, offset: UInt64) -> Bool {
        true
    }

    mutating func add(_ name: EntryName, entry: Entry, offset: UInt64) -> Bool {
        entries[name.text] = entry
        return true
    }
}
