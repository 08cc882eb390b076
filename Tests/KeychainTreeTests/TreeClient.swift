import FileSystemCore
import FileSystemTesting
import SecretCrypto
import SystemPackage

@testable import KeychainTree

/// The calls of one process on a tree. It walks paths as the kernel does, and releases lookups.
final class TreeProcess {
    let tree: KeychainFileSystem
    let owner: LockOwner
    let processID: Int32
    var userID: UInt32 = 1000
    /// Whether a signal has come, for the requests that follow.
    var isInterrupted = false
    /// The number of calls of willBlock.
    let blockingCalls = MutexBox(0)
    /// The number of messages that a request has released.
    let releases: MutexBox<Int>
    /// The notifications to the kernel before replies, in order.
    private(set) var notifications: [Notification] = []
    /// The notifications to the kernel after replies, in order.
    private(set) var notificationsAfterReply: [Notification] = []

    init(
        _ fixture: TreeFixture, _ number: Int32 = 1, owner: LockOwner? = nil, releases: MutexBox<Int> = MutexBox(0)
    ) {
        self.releases = releases
        tree = fixture.tree
        self.owner = owner ?? LockOwner(rawValue: UInt64(number))
        processID = number
    }

    struct Descriptor {
        let node: NodeID
        let opened: OpenFileInfo
        let flags: OpenFlags
    }

    /// Makes one request and records its notifications.
    func ask<Result>(_ body: (inout Request) throws(Errno) -> Result) throws(Errno) -> Result {
        let (isInterrupted, blockingCalls, releases) = (isInterrupted, blockingCalls, releases)
        var request = Request(
            caller: Caller(userID: userID, groupID: 1000, processID: processID), interrupted: { isInterrupted },
            willBlock: { blockingCalls.withLock { $0 += 1 } }, releasing: { releases.withLock { $0 += 1 } })
        defer {
            notifications += request.notificationsBeforeReply
            notificationsAfterReply += request.notificationsAfterReply
        }
        return try body(&request)
    }

    func name(_ text: String) throws(Errno) -> EntryName {
        guard let name = EntryName(text) else { throw .fileNameTooLong }
        return name
    }

    /// Looks up a path. The caller releases the lookup.
    func entry(_ path: String) throws(Errno) -> Entry {
        var node = NodeID.root
        var found: Entry?
        for part in path.split(separator: "/") {
            let name = try name(String(part))
            let result = try ask { (request) throws(Errno) in
                try tree.lookup(&request, parent: node, name: name)
            }
            if node != .root { tree.forget(node, count: 1) }
            guard case .found(let entry) = result else { throw .noSuchFileOrDirectory }
            (node, found) = (entry.node, entry)
        }
        guard let found else { throw .invalidArgument }
        return found
    }

    /// Returns the node of a path; the root for an empty path.
    func node(_ path: String) throws(Errno) -> NodeID { path.isEmpty ? .root : try entry(path).node }

    /// The directory of a path, and the last name of it.
    func parent(_ path: String) throws(Errno) -> (node: NodeID, name: EntryName) {
        let parts = path.split(separator: "/").map(String.init)
        let name = try name(parts.last ?? "")
        guard parts.count > 1 else { return (.root, name) }
        return (try entry(parts.dropLast().joined(separator: "/")).node, name)
    }

    func mkdir(_ path: String) throws(Errno) {
        let (node, name) = try parent(path)
        let entry = try ask { (request) throws(Errno) in
            try tree.mkdir(&request, parent: node, name: name, permissions: 0o755)
        }
        tree.forget(entry.node, count: 1)
    }

    func rmdir(_ path: String) throws(Errno) {
        let (node, name) = try parent(path)
        try ask { (request) throws(Errno) in try tree.rmdir(&request, parent: node, name: name) }
    }

    func unlink(_ path: String) throws(Errno) {
        let (node, name) = try parent(path)
        try ask { (request) throws(Errno) in try tree.unlink(&request, parent: node, name: name) }
    }

    func rename(_ path: String, _ newPath: String, _ flags: RenameFlags = []) throws(Errno) {
        let (from, to) = (try parent(path), try parent(newPath))
        try ask { (request) throws(Errno) in
            try tree.rename(
                &request, parent: from.node, name: from.name, newParent: to.node, newName: to.name, flags: flags)
        }
    }

    /// Opens a node, as the kernel does after a lookup.
    func open(_ node: NodeID, _ flags: OpenFlags) throws(Errno) -> Descriptor {
        let opened = try ask { (request) throws(Errno) in try tree.open(&request, node: node, flags: flags) }
        return Descriptor(node: node, opened: opened, flags: flags)
    }

    /// open(2), with O_CREAT as the kernel does it: a lookup first.
    func open(_ path: String, _ flags: OpenFlags = []) throws(Errno) -> Descriptor {
        do throws(Errno) {
            let entry = try entry(path)
            guard !flags.contains([.create, .exclusive]) else { throw .fileExists }
            return try open(entry.node, flags)
        } catch .noSuchFileOrDirectory where flags.contains(.create) {
            let (node, name) = try parent(path)
            let (entry, opened) = try ask { (request) throws(Errno) in
                try tree.create(&request, parent: node, name: name, permissions: 0o666, flags: flags)
            }
            return Descriptor(node: entry.node, opened: opened, flags: flags)
        }
    }

    func write(_ file: Descriptor, _ text: String, at offset: Int = 0) throws(Errno) {
        try write(file, bytes: Array(text.utf8), at: offset)
    }

    func write(_ file: Descriptor, bytes: [UInt8], at offset: Int = 0, flags: OpenFlags? = nil) throws(Errno) {
        _ = try ask { (request) throws(Errno) in
            try tree.write(
                &request, node: file.node, handle: file.opened.handle, offset: UInt64(offset), data: bytes.rawSpan,
                owner: owner, flags: flags ?? file.flags)
        }
    }

    func read(
        _ file: Descriptor, at offset: Int = 0, size: Int = 131_072, forPageCache: Bool = false
    ) throws(Errno) -> [UInt8] {
        var bytes: [UInt8] = []
        try ask { (request) throws(Errno) in
            try tree.read(
                &request, node: file.node, handle: file.opened.handle, offset: UInt64(offset), size: size,
                owner: forPageCache ? nil : owner
            ) { _, span in bytes = [UInt8](copying: span) }
        }
        return bytes
    }

    func flush(_ file: Descriptor) throws(Errno) {
        try ask { (request) throws(Errno) in
            try tree.flush(&request, node: file.node, handle: file.opened.handle, owner: owner)
        }
    }

    func fsync(_ file: Descriptor) throws(Errno) {
        try ask { (request) throws(Errno) in
            try tree.fsync(&request, node: file.node, handle: file.opened.handle, dataOnly: true)
        }
    }

    func release(_ file: Descriptor) {
        try? ask { (request) throws(Errno) in
            tree.release(&request, node: file.node, handle: file.opened.handle)
        }
        tree.forget(file.node, count: 1)
    }

    /// close(2) of the last duplicate: FLUSH, then RELEASE, even if FLUSH fails.
    func close(_ file: Descriptor) throws(Errno) {
        defer { release(file) }
        if !file.opened.noFlush { try flush(file) }
    }

    func setattr(_ path: String, _ edit: (inout AttributeChanges) -> Void) throws(Errno) {
        let node = try entry(path).node
        var changes = AttributeChanges()
        edit(&changes)
        _ = try ask { (request) throws(Errno) in try tree.setattr(&request, node: node, changes: changes) }
        tree.forget(node, count: 1)
    }

    /// ftruncate(2)
    func ftruncate(_ file: Descriptor, _ size: UInt64) throws(Errno) {
        var changes = AttributeChanges()
        (changes.size, changes.handle, changes.lockOwner) = (size, file.opened.handle, owner)
        _ = try ask { (request) throws(Errno) in try tree.setattr(&request, node: file.node, changes: changes) }
    }

    /// mknod(2) of a regular file.
    func mknod(_ path: String) throws(Errno) {
        let (node, name) = try parent(path)
        let entry = try ask { (request) throws(Errno) in
            try tree.mknod(&request, parent: node, name: name, type: .regular, permissions: 0o644)
        }
        tree.forget(entry.node, count: 1)
    }

    func stat(_ path: String) throws(Errno) -> Attributes {
        let entry = try entry(path)
        tree.forget(entry.node, count: 1)
        return entry.attributes
    }

    func fstat(_ file: Descriptor) throws(Errno) -> TimedAttributes {
        try ask { (request) throws(Errno) in
            try tree.getattr(&request, node: file.node, handle: file.opened.handle)
        }
    }

    func setxattr(_ path: String, _ key: String, _ value: String, _ flags: XattrFlags = []) throws(Errno) {
        let (node, bytes) = (try node(path), Array(value.utf8))
        defer { tree.forget(node, count: 1) }
        try ask { (request) throws(Errno) in
            try tree.setxattr(&request, node: node, name: Array("user.\(key)".utf8), value: bytes.rawSpan, flags: flags)
        }
    }

    func getxattr(_ path: String, _ key: String) throws(Errno) -> String {
        let node = try node(path)
        defer { tree.forget(node, count: 1) }
        return String(
            decoding: try ask { (request) throws(Errno) in
                try tree.getxattr(&request, node: node, name: Array("user.\(key)".utf8))
            }, as: UTF8.self)
    }

    func removexattr(_ path: String, _ key: String) throws(Errno) {
        let node = try node(path)
        defer { tree.forget(node, count: 1) }
        try ask { (request) throws(Errno) in
            try tree.removexattr(&request, node: node, name: Array("user.\(key)".utf8))
        }
    }

    /// The names without `user.`.
    func listxattr(_ path: String) throws(Errno) -> [String] {
        let node = try node(path)
        defer { tree.forget(node, count: 1) }
        return try ask { (request) throws(Errno) in try tree.listxattr(&request, node: node) }
            .map { String(decoding: $0.dropFirst(5), as: UTF8.self) }
    }

    func list(_ path: String) throws(Errno) -> [String] {
        do { return try list(path) {} } catch let error as Errno { throw error } catch { throw .ioError }
    }

    /// Lists a directory, and calls `between` after each part of the listing.
    func list(_ path: String, between: () throws -> Void) throws -> [String] {
        let node = try node(path)
        var names: [String] = []
        var offset: UInt64 = 0
        let handle = try ask { (request) throws(Errno) in try tree.opendir(&request, node: node) }
        // An endless listing must fail, not hang.
        while names.count < 10_000 {
            var sink = ListSink()
            try ask { (request) throws(Errno) in
                try tree.readdir(&request, node: node, handle: handle, offset: offset, into: &sink)
            }
            guard let last = sink.lastOffset else { return names.filter { $0 != "." && $0 != ".." } }
            names += sink.names
            offset = last
            try between()
        }
        throw Errno.tooManySymbolicLinkLevels
    }

    // MARK: What shells do

    /// `printf text > path`
    func put(_ path: String, _ text: String) throws(Errno) {
        let file = try open(path, [.writeOnly, .create, .truncate])
        try write(file, text)
        try close(file)
    }

    /// `cat path`
    func cat(_ path: String) throws(Errno) -> String {
        let file = try open(path)
        defer { try? close(file) }
        return String(decoding: try read(file), as: UTF8.self)
    }
}

/// Accepts seven names per call, so that listings must continue where they stopped.
struct ListSink: DirectorySink {
    var names: [String] = []
    var lastOffset: UInt64?
    let wantsEntries = false

    mutating func add(_ name: EntryName, inode: InodeNumber, type: FileSystemCore.FileType, offset: UInt64) -> Bool {
        guard names.count < 7 else { return false }
        names.append(name.text)
        lastOffset = offset
        return true
    }

    mutating func add(_ name: EntryName, entry: Entry, offset: UInt64) -> Bool { false }
}
