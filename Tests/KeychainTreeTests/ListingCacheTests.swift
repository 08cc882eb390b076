import FileSystemCore
import Keychain
import KeychainTesting
import SystemPackage
import Testing

@testable import KeychainTree

/// A cached listing is current, needs no query, and does not survive a lock.
@Suite struct ListingCacheTests: SingleServiceSuite {
    private let fixture: TreeFixture
    private let shell: TreeProcess

    init() throws {
        fixture = try TreeFixture()
        shell = TreeProcess(fixture)
        try shell.mkdir(dir)
        for number in 0..<20 { try shell.put("\(dir)/n\(number)", "x") }
    }

    /// Lists with READDIRPLUS and releases the lookups.
    private func entries(of directory: String = "generic-passwords/s") throws -> [String: Attributes] {
        let node = try shell.entry(directory).node
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
        // Every row is changed without notice and would not open, so a successful listing comes from the cache.
        let listing = try #require(fixture.tree.listings.listing(of: try row()))
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

    @Test("T6, S5: each change of an item invalidates the listing of its directory and no other one; of a move, both")
    func invalidated() throws {
        let other = "generic-passwords/other"
        try shell.mkdir(other)
        for name in ["a", "b", "c"] { try shell.put("\(other)/\(name)", "x") }
        let rows = (try row(), try row(of: other))
        func isInvalidated(_ change: () throws -> Void) throws -> (here: Bool, there: Bool) {
            _ = try entries()
            _ = try entries(of: other)
            let listings = fixture.tree.listings
            #expect(listings.listing(of: rows.0) != nil && listings.listing(of: rows.1) != nil)
            try change()
            return (listings.listing(of: rows.0) == nil, listings.listing(of: rows.1) == nil)
        }
        let changes: [(String, () throws -> Void)] = [
            ("overwrite", { try shell.put("\(other)/a", "longer") }), ("create", { try shell.put("\(other)/d", "") }),
            ("unlink", { try shell.unlink("\(other)/d") }),
            ("rename", { try shell.rename("\(other)/a", "\(other)/e") }),
            ("rename over", { try shell.rename("\(other)/e", "\(other)/b") }),
            ("chmod", { try shell.setattr("\(other)/b") { $0.permissions = 0o640 } }),
            ("xattr", { try shell.setxattr("\(other)/b", "kSecAttrLabel", "L") }),
        ]
        for (name, change) in changes { try #expect(isInvalidated(change) == (false, true), "\(name)") }
        let move = try isInvalidated { try shell.rename("\(other)/b", "\(dir)/from-there") }
        #expect(move == (true, true))
        let moveByAttribute = try isInvalidated { try shell.setxattr("\(dir)/n1", "kSecAttrService", "other") }
        #expect(moveByAttribute == (true, true))
        let directories: [(String, () throws -> Void)] = [
            ("mkdir", { try shell.mkdir("generic-passwords/third") }),
            ("default class", { try shell.setxattr(dir, "kSecAttrAccessible", "AfterFirstUnlock") }),
            ("rmdir", { try shell.rmdir("generic-passwords/third") }),
        ]
        for (name, change) in directories { try #expect(isInvalidated(change) == (false, false), "\(name)") }
    }

    @Test("S4: after a change by another program no listing is kept")
    func externalChange() throws {
        _ = try entries()
        fixture.store.noteExternalChange()
        #expect(fixture.tree.listings.listing(of: try row()) == nil)
    }

    @Test("F2: a cached listing shows staged sizes")
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
        #expect(fixture.tree.listings.listing(of: try row()) != nil)
        _ = fixture.tree.lock()
        #expect(fixture.tree.listings.listing(of: try row()) == nil)
        #expect(throws: Errno.noKey) { try shell.list(dir) }
        try fixture.tree.unlock(passphrase: try TreeFixture.secret())
        #expect(try entries().count == 20)
    }

    @Test("S5: a directory beyond the limit is streamed and not cached")
    func largeIsStreamed() throws {
        fixture.tree.listings.noteLarge(try row())
        #expect(try entries().count == 20)
        #expect(fixture.tree.listings.listing(of: try row()) == nil)
    }

    /// Lists in small steps. `between` gets the number of entries before each. Leaves the directory open.
    private func listInSteps(_ between: (Int) throws -> Void = { _ in }) throws -> (node: NodeID, handle: HandleID) {
        let node = try shell.entry(dir).node
        let handle = try shell.ask { (request) throws(Errno) in try fixture.tree.opendir(&request, node: node) }
        var sink = StepSink()
        repeat {
            try between(sink.total)
            sink.capacity = 7
            try shell.ask { (request) throws(Errno) in
                try fixture.tree.readdir(&request, node: node, handle: handle, offset: sink.last, into: &sink)
            }
        } while sink.capacity < 7
        return (node, handle)
    }

    private func close(_ listing: (node: NodeID, handle: HandleID)) throws {
        try shell.ask { (request) throws(Errno) in
            fixture.tree.releasedir(&request, node: listing.node, handle: listing.handle)
        }
        fixture.tree.forget(listing.node, count: 1)
    }

    private func isKept() throws -> Bool {
        fixture.tree.listings.listing(of: try row())?.count == 20
    }

    @Test("S5: a listing that takes several calls is remembered at its end, and not before")
    func steps() throws {
        try close(listInSteps { if $0 < 22 { try #expect(!isKept()) } })
        try #expect(isKept())
    }

    @Test("T6: a listing during which an item of its directory was changed is not kept; other changes do not matter")
    func committedMeanwhile() throws {
        try close(listInSteps { if $0 == 14 { try shell.put("\(dir)/n1", "changed") } })
        try #expect(!isKept())
        try shell.mkdir("generic-passwords/other")
        try close(listInSteps { if $0 == 14 { try shell.put("generic-passwords/other/a", "x") } })
        try #expect(isKept())
        fixture.tree.listings.drop()
        try close(listInSteps())
        try #expect(isKept())
    }

    @Test("H2, L1: a lock discards the collected part of a listing in progress")
    func lockedMeanwhile() throws {
        try close(
            listInSteps {
                guard $0 == 14 else { return }
                _ = fixture.tree.lock()
                #expect(fixture.tree.listings.gatheredCount == 0)
                try fixture.tree.unlock(passphrase: try TreeFixture.secret())
            })
        try #expect(!isKept())
    }

    @Test("S5: unfinished listings occupy bounded memory, which their descriptors release")
    func unfinished() throws {
        let node = try shell.entry(dir).node
        defer { fixture.tree.forget(node, count: 1) }
        let entries = [ListingCache.Entry](
            repeating: ListingCache.Entry(
                row: RowID(rawValue: 7), name: try #require(EntryName("n")), attributes: try shell.stat(dir)),
            count: ListingCache.limit / 3)
        let cache = ListingCache()
        for number in 1...9 {
            var part = try #require(cache.begin(HandleID(rawValue: UInt64(number)), try row(), after: .none))
            part.entries = entries
            cache.gather(part, isLast: false) { true }
            #expect(cache.gatheredCount <= ListingCache.limit && cache.gatheredCount > 0)
        }
        for number in 1...9 { cache.abandon(HandleID(rawValue: UInt64(number))) }
        #expect(cache.gatheredCount == 0)
    }

    private func row(of directory: String = "generic-passwords/s") throws -> RowID {
        let entry = try shell.entry(directory)
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

/// Accepts a limited number of names per call, and no entries.
private struct StepSink: DirectorySink {
    var capacity = 0
    var total = 0
    var last: UInt64 = 0
    let wantsEntries = false

    mutating func add(_ name: EntryName, inode: InodeNumber, type: FileSystemCore.FileType, offset: UInt64) -> Bool {
        guard capacity > 0 else { return false }
        (capacity, total, last) = (capacity - 1, total + 1, offset)
        return true
    }

    mutating func add(_ name: EntryName, entry: Entry, offset: UInt64) -> Bool { false }
}
