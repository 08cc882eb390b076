import FileSystemCore
import Keychain
import KeychainTesting
import SystemPackage
import Testing

@testable import KeychainTree

/// T6: listings in pieces, of directories of every kind, and the numbers of files and nodes.
@Suite struct ListingTests {
    private let fixture: TreeFixture
    private let shell: TreeProcess

    init() throws {
        fixture = try TreeFixture()
        shell = TreeProcess(fixture)
    }

    enum Kind: CaseIterable, Sendable {
        case services, groups, items, manyItems, pendingItems

        var parent: String {
            switch self {
            case .services: "generic-passwords"
            case .groups: "access-groups"
            default: "generic-passwords/s"
            }
        }
    }

    private func make(_ kind: Kind, _ name: String) throws {
        let path = "\(kind.parent)/\(name)"
        switch kind {
        case .services, .groups: try shell.mkdir(path)
        default: try shell.put(path, "x")
        }
    }

    private func remove(_ kind: Kind, _ name: String) throws {
        let path = "\(kind.parent)/\(name)"
        switch kind {
        case .services, .groups: try shell.rmdir(path)
        default: try shell.unlink(path)
        }
    }

    private func prepare(_ kind: Kind) throws {
        if ![.services, .groups].contains(kind) { try shell.mkdir("generic-passwords/s") }
        // Beyond the limit nothing is remembered of a listing.
        if kind == .manyItems { fixture.tree.listings.noteLarge(try row("generic-passwords/s")) }
    }

    private func row(_ path: String) throws -> RowID {
        RowID(rawValue: Int64(try shell.stat(path).inode.rawValue))
    }

    @Test(
        "T6: entries made, removed and renamed between two pieces neither repeat nor hide others",
        arguments: Kind.allCases)
    func pieces(_ kind: Kind) throws {
        try prepare(kind)
        let names = (0..<60).map { "n\($0)" }
        for name in names { try make(kind, name) }
        let open = kind == .pendingItems ? try shell.open(kind.parent + "/pending", [.writeOnly, .create]) : nil
        var piece = 0
        let seen = try shell.list(kind.parent) {
            defer { piece += 1 }
            switch piece {
            // Names that have been listed, and others.
            case 0: for name in ["n0", "n3", "n4", "n30", "n31"] { try remove(kind, name) }
            case 1: try shell.rename("\(kind.parent)/n40", "\(kind.parent)/moved")
            case 2: try shell.rename("\(kind.parent)/n2", "\(kind.parent)/moved back")
            case 3: for name in ["extra", "last"] { try make(kind, name) }
            case 4: if let open { try shell.close(open) }
            default: break
            }
        }
        #expect(piece > 6)
        #expect(Set(seen).count == seen.count, "repeated")
        let touched: Set = ["n0", "n2", "n3", "n4", "n30", "n31", "n40"]
        let kept = names.filter { !touched.contains($0) }
        #expect(seen.filter(kept.contains) == kept)
        #expect(seen.contains("n2") && !seen.contains("moved back"))
        #expect(!seen.contains("n30") && !seen.contains("n31"))
        #expect(!seen.contains("n40") && seen.filter { $0 == "moved" }.count == 1)
        // Names created during a listing follow the existing ones.
        #expect(seen.suffix(2) == ["extra", "last"])
        if kind == .pendingItems { #expect(seen.filter { $0 == "pending" }.count == 1) }
        #expect(try shell.list(kind.parent).count == 60 - 5 + 2 + (kind == .pendingItems ? 1 : 0))
    }

    @Test(
        "T6: an entry's offset is its row's number, from one mount to the next, committed or not",
        arguments: Kind.allCases)
    func offsets(_ kind: Kind) throws {
        try prepare(kind)
        for number in 0..<20 { try make(kind, "n\(number)") }
        let open = kind == .pendingItems ? try shell.open(kind.parent + "/pending", [.writeOnly, .create]) : nil
        let offsets = try shell.offsets(kind.parent)
        #expect(offsets.count == 22 + (open == nil ? 0 : 1))
        for (name, offset) in offsets where !name.hasPrefix(".") {
            #expect(offset == (try shell.stat("\(kind.parent)/\(name)").inode.rawValue) + 2, "\(name)")
        }
        if let open { try shell.close(open) }
        #expect(try shell.offsets(kind.parent) == offsets)
        #expect(
            try TreeProcess(try TreeFixture(copying: fixture.store.records, device: 1)).offsets(kind.parent) == offsets)
    }

    @Test("T6: a name that is committed while its page is read is shown once", arguments: [true, false])
    func committedMeanwhile(isSeen: Bool) throws {
        try shell.mkdir("generic-passwords/s")
        let names = (0..<10).map { "n\($0)" }
        for name in names { try shell.put("generic-passwords/s/\(name)", "x") }
        let files = try ["new", "other"].map { try shell.open("generic-passwords/s/\($0)", [.writeOnly, .create]) }
        let (node, handle) = (files[0].node, files[0].opened.handle)
        var isFirst = true
        let seen = try shell.list("generic-passwords/s") {
            guard isFirst else { return }
            isFirst = false
            let commit: @Sendable () -> Void = { [tree = fixture.tree] in
                var request = Request(caller: Caller(userID: 0, groupID: 0, processID: 1))
                try? tree.fsync(&request, node: node, handle: handle, dataOnly: true)
            }
            if isSeen { fixture.store.beforeNextRead(commit) } else { fixture.store.duringNextRead(commit) }
        }
        #expect(try fixture.keychain.itemCount() == 11)
        #expect(seen == names + ["new", "other"])
        for file in files { try shell.close(file) }
    }

    @Test("T6: types and inode numbers in a listing are those of stat")
    func types() throws {
        try shell.mkdir("access-groups/g")
        try shell.mkdir("generic-passwords/s")
        try shell.put("generic-passwords/s/a", "x")
        try shell.put("generic-passwords/s/b", "y")
        try shell.rename("generic-passwords/s/a", "generic-passwords/s/b")
        for path in ["", "access-groups", "access-groups/g", "generic-passwords", "generic-passwords/s"] {
            for (name, entry) in try shell.entries(path) {
                let attributes = try shell.stat("\(path)/\(name)")
                #expect(entry.attributes == attributes, "\(path)/\(name)")
            }
            for (name, seen) in try shell.types(path) where !name.hasPrefix(".") {
                let attributes = try shell.stat("\(path)/\(name)")
                #expect(seen.type == attributes.type && seen.inode == attributes.inode, "\(path)/\(name)")
            }
        }
    }

    @Test("T6: a node's number is never given again within a mount")
    func nodeNumbers() throws {
        try shell.mkdir("generic-passwords/s")
        var highest = try shell.entry("generic-passwords/s").node.rawValue
        for round in 0..<50 {
            let path = "generic-passwords/s/a"
            if round % 3 != 0 { try shell.put(path, "x") } else { try shell.mknod(path) }
            let node = try shell.entry(path).node
            #expect(node.rawValue > highest)
            highest = max(highest, node.rawValue)
            fixture.tree.forget(node, count: 1)
            // A forgotten inode gets a new node ID at the next lookup.
            let again = try shell.entry(path).node
            #expect(again.rawValue > highest)
            highest = max(highest, again.rawValue)
            fixture.tree.forget(again, count: 1)
            #expect(throws: Errno.noSuchFileOrDirectory) {
                try shell.ask { (request) throws(Errno) in
                    _ = try shell.tree.getattr(&request, node: node, handle: nil)
                }
            }
            try shell.unlink(path)
        }
    }

    @Test("F7: ls -lR, find, du and getfattr read no secret, for all entries and at every repetition")
    func secrets() throws {
        try shell.mkdir("access-groups/g")
        let places = ["generic-passwords/s", "internet-passwords/h", "access-groups/g/generic-passwords/s"]
        for place in places {
            try shell.mkdir(place)
            for number in 0..<10 {
                try shell.put("\(place)/n\(number)", String(repeating: "x", count: 100 * number))
                try shell.setxattr("\(place)/n\(number)", "kSecAttrLabel", "L")
            }
        }
        // Without anything that is remembered.
        let there = try TreeFixture(copying: fixture.store.records, device: 1)
        let indexer = TreeProcess(there)
        for isLarge in [false, true, false] {
            if isLarge { there.tree.listings.noteLarge(try row(places[0])) }
            for place in places {
                let sizes = try indexer.entries(place).mapValues(\.attributes.size)
                #expect(sizes["n7"] == 700 && sizes.count == 10)
                for name in try indexer.list(place) {
                    #expect(try indexer.stat("\(place)/\(name)").size == sizes[name])
                    for attribute in try indexer.listxattr("\(place)/\(name)") {
                        _ = try indexer.getxattr("\(place)/\(name)", attribute)
                    }
                }
            }
        }
        #expect(there.store.secretReads == 0)
        #expect(try indexer.cat(places[0] + "/n7").count == 700)
        #expect(there.store.secretReads > 0)
    }
}

extension TreeProcess {
    /// Lists a complete directory with READDIRPLUS and releases its lookups.
    func entries(_ path: String) throws(Errno) -> [String: Entry] {
        var found: [String: Entry] = [:]
        try readAll(path, true) { sink in
            for (name, entry) in sink.entries {
                found[name] = entry
                tree.forget(entry.node, count: 1)
            }
        }
        return found
    }

    /// Returns the types and inode numbers of READDIR.
    func types(_ path: String) throws(Errno) -> [String: (type: FileSystemCore.FileType, inode: InodeNumber)] {
        var found: [String: (type: FileSystemCore.FileType, inode: InodeNumber)] = [:]
        try readAll(path, false) { sink in found.merge(sink.types) { $1 } }
        return found
    }

    /// The place of each name.
    func offsets(_ path: String) throws(Errno) -> [String: UInt64] {
        var found: [String: UInt64] = [:]
        try readAll(path, false) { sink in found.merge(sink.offsets) { $1 } }
        return found
    }

    private func readAll(_ path: String, _ wantsEntries: Bool, _ body: (PieceSink) -> Void) throws(Errno) {
        let node = path.isEmpty ? NodeID.root : try entry(path).node
        let handle = try ask { (request) throws(Errno) in try tree.opendir(&request, node: node) }
        var offset: UInt64 = 0
        for _ in 0..<1000 {
            var sink = PieceSink(wantsEntries: wantsEntries)
            try ask { (request) throws(Errno) in
                try tree.readdir(&request, node: node, handle: handle, offset: offset, into: &sink)
            }
            body(sink)
            guard let last = sink.lastOffset else { break }
            offset = last
        }
        try ask { (request) throws(Errno) in tree.releasedir(&request, node: node, handle: handle) }
    }
}

/// Accepts five entries per call, and stores them.
private struct PieceSink: DirectorySink {
    let wantsEntries: Bool
    var entries: [String: Entry] = [:]
    var types: [String: (type: FileSystemCore.FileType, inode: InodeNumber)] = [:]
    var offsets: [String: UInt64] = [:]
    var lastOffset: UInt64?

    init(wantsEntries: Bool) { self.wantsEntries = wantsEntries }

    mutating func add(_ name: EntryName, inode: InodeNumber, type: FileSystemCore.FileType, offset: UInt64) -> Bool {
        guard offsets.count < 5 else { return false }
        types[name.text] = (type, inode)
        (offsets[name.text], lastOffset) = (offset, offset)
        return true
    }

    mutating func add(_ name: EntryName, entry: Entry, offset: UInt64) -> Bool {
        guard offsets.count < 5 else { return false }
        entries[name.text] = entry
        (offsets[name.text], lastOffset) = (offset, offset)
        return true
    }
}
