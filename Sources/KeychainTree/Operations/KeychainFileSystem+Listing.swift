package import FileSystemCore
import Keychain
import Synchronization
package import SystemPackage

extension KeychainFileSystem {
    /// Offsets 1 and 2 are `.` and `..`; offsets of other entries are the row number (or index) plus this.
    private static let offsetBase: UInt64 = 2
    /// The number of rows that are read at a time.
    static let pageSize = 128

    package func opendir(_ request: inout Request, node id: NodeID) throws(Errno) -> HandleID {
        switch try node(id).content {
        case .item, .controlFile: throw .notDirectory
        case .service(let directory): try checkListable(directory)
        case .folder(.classDirectory(let classDirectory)):
            if let container = try container(of: classDirectory) { try checkListable(rowsOf: container.id) }
        case .folder(.groups): try checkListable(rowsOf: .none)
        case .folder(.scope), .controlDirectory: break
        }
        return table.withLock { $0.open(.directory(DirectoryHandle())) }
    }

    package func releasedir(_ request: inout Request, node: NodeID, handle: HandleID) {
        listings.abandon(handle)
        _ = table.withLock { $0.close(handle) }
    }

    /// Every change of a directory is durable when it returns.
    package func fsyncdir(
        _ request: inout Request, node: NodeID, handle: HandleID, dataOnly: Bool
    ) throws(Errno) {}

    package func statfs(_ request: inout Request, node: NodeID) throws(Errno) -> FileSystemStatistics {
        try host.statistics()
    }

    package func readdir(
        _ request: inout Request, node id: NodeID, handle: HandleID, offset: UInt64,
        into sink: inout some DirectorySink
    ) throws(Errno) {
        awaitRebuild(request)
        let node = try node(id)
        guard case .directory(let listing) = try self.handle(handle) else { throw .badFileDescriptor }
        if offset == 0 { listing.restart() }
        guard try addDots(node, offset, &sink) else { return }
        let after = offset > Self.offsetBase ? offset - Self.offsetBase : 0
        switch node.content {
        case .controlDirectory: listFixed(fixed.controlFiles.map { ($0.name, $0.node) }, after, &sink)
        case .folder(.scope(let group, let isSynchronizable)):
            try listChildren(of: .scope(group, isSynchronizable: isSynchronizable), after, &sink)
        case .folder(.groups): try listGroups(after: RowID(rawValue: Int64(clamping: after)), listing, &sink)
        case .folder(.classDirectory(let classDirectory)):
            try listDirectories(of: classDirectory, after: RowID(rawValue: Int64(clamping: after)), listing, &sink)
        case .service(let directory):
            let after = RowID(rawValue: Int64(clamping: after))
            if let known = knownListing(of: directory) {
                return try listKnown(known.following(after), of: directory, listing, &sink)
            }
            try listItems(of: directory, after: after, handle, listing, &sink)
        case .item, .controlFile: throw .notDirectory
        }
    }

    // MARK: Rows of listings

    /// Adds `.` and `..`. Returns false if the sink is full.
    private func addDots(_ node: Node, _ offset: UInt64, _ sink: inout some DirectorySink) throws(Errno) -> Bool {
        guard offset < Self.offsetBase, let dot = EntryName("."), let dots = EntryName("..") else { return true }
        let (inode, parent) = inodes(of: node)
        if offset < 1, !sink.add(dot, inode: inode, type: .directory, offset: 1) { return false }
        return sink.add(dots, inode: parent, type: .directory, offset: 2)
    }

    /// Returns the inode numbers of a directory and its parent.
    private func inodes(of node: Node) -> (own: InodeNumber, parent: InodeNumber) {
        switch node.content {
        case .folder(let folder): (folder.inode, folder.parent.inode)
        case .service(let directory):
            (
                InodeNumber(rawValue: UInt64(directory.row.rawValue)),
                ScopeDirectory.classDirectory(directory.classDirectory).inode
            )
        default: (attributes(ofFixed: node).inode, ScopeDirectory.root.inode)
        }
    }

    private func listChildren(
        of folder: ScopeDirectory, _ after: UInt64, _ sink: inout some DirectorySink
    ) throws(Errno) {
        for (index, child) in folder.children.enumerated().dropFirst(Int(clamping: after)) {
            let offset = UInt64(index) + 1 + Self.offsetBase
            guard sink.wantsEntries else {
                guard sink.add(child.name, inode: child.folder.inode, type: .directory, offset: offset) else { return }
                continue
            }
            let entry = try entry(of: child.folder)
            guard addEntry(&sink, child.name, offset, entry.node, { entry }) else { return }
        }
    }

    private func listFixed(_ entries: [(EntryName, Node)], _ after: UInt64, _ sink: inout some DirectorySink) {
        for (index, (name, node)) in entries.enumerated().dropFirst(Int(clamping: after)) {
            let offset = UInt64(index) + 1 + Self.offsetBase
            let attributes = attributes(ofFixed: node)
            let isAdded =
                sink.wantsEntries
                ? addEntry(&sink, name, offset, node.id) { self.entry(ofFixed: node) }
                : sink.add(name, inode: attributes.inode, type: attributes.type, offset: offset)
            guard isAdded else { return }
        }
    }

    private func listDirectories(
        of classDirectory: ClassDirectory, after: RowID, _ listing: DirectoryHandle, _ sink: inout some DirectorySink
    ) throws(Errno) {
        guard let container = try container(of: classDirectory) else { return }
        try list(rowsOf: container.id, after, listing) { directory in add(directory, in: classDirectory, &sink) }
    }

    /// Lists the groups and the containers of the default group, which are few, in one order.
    private func listGroups(
        after: RowID, _ listing: DirectoryHandle, _ sink: inout some DirectorySink
    ) throws(Errno) {
        try list(rowsOf: .none, after, listing) { group in add(group, &sink) }
    }

    /// Calls `add` with the directories of a row after `after`, until it returns false.
    private func list(
        rowsOf parent: RowID, _ after: RowID, _ listing: DirectoryHandle, _ add: (Directory) -> Bool
    ) throws(Errno) {
        var after = after
        while true {
            let page = try mapped { () throws(KeychainFault) in
                try keychain.directories(in: parent, after: after, limit: Self.pageSize)
            }
            for entry in page {
                guard case .available(let directory) = entry, try isShown(directory) else {
                    listing.recordOmission(entry.isDamaged)
                    continue
                }
                guard add(directory) else { return }
            }
            guard let last = page.last else { break }
            after = last.id
        }
        try end(listing)
    }

    /// Lists rows and pending names in one order, that of rows, so that a name keeps its position when it is committed
    /// (T6).
    private func listItems(
        of directory: ServiceDirectory, after: RowID, _ handle: HandleID, _ listing: DirectoryHandle,
        _ sink: inout some DirectorySink
    ) throws(Errno) {
        var part = beginPart(of: directory, after: after, handle)
        var after = after
        var isLast = false
        while !isLast {
            // Pending names first: a name that is committed in the meantime is then in both lists, never in neither.
            let pending = directory.pendingFiles(after: after)
            let commits = keychain.commitCount
            let page = try mapped { () throws(KeychainFault) in
                try keychain.items(in: directory.row, after: after, limit: Self.pageSize)
            }
            isLast = page.count < Self.pageSize
            let end = isLast ? RowID(rawValue: .max) : page.last?.id ?? .none
            let entries = merge(page, pending.filter { $0.row <= end })
            guard try add(entries, readAt: commits, of: directory, listing, &part, &sink) else {
                return endPart(part, isLast: false)
            }
            after = end
        }
        endPart(part, isLast: true)
        try end(listing)
    }

    /// While indexes are known to miss rows, every listing may be incomplete.
    private func end(_ listing: DirectoryHandle) throws(Errno) {
        if keychain.missesRows { listing.recordOmission(true) }
        try listing.end()
    }

    /// Adds a page. Returns false if the sink is full.
    private func add(
        _ entries: [ListedItem], readAt commits: Int, of directory: ServiceDirectory, _ listing: DirectoryHandle,
        _ part: inout ListingCache.Part?, _ sink: inout some DirectorySink
    ) throws(Errno) -> Bool {
        for entry in entries {
            if case .committed(.available(let item)) = entry {
                guard add(item, readAt: commits, in: directory, &part, &sink) else { return false }
                continue
            }
            // The listing does not show all committed items, or shows more.
            if let given = part { listings.abandon(given.handle) }
            part = nil
            switch entry {
            // L6: another device's item is omitted from a listing without an error.
            case .committed(.available), .committed(.foreign): continue
            case .committed(let listed): listing.recordOmission(listed.isDamaged)
            case .pending(let row, let file):
                guard let item = item(of: file, stillIn: row) else { continue }
                if keychain.keys.isAvailable(item.protection) {
                    guard try add(item, file, row, &sink) else { return false }
                } else {
                    listing.recordOmission(false)
                }
            }
        }
        return true
    }

    // MARK: Listings that are remembered

    private func knownListing(of directory: ServiceDirectory) -> [ListingCache.Entry]? {
        guard keychain.keys.state == .unlocked, !keychain.missesRows, !directory.hasPending else { return nil }
        return listings.listing(of: directory.row)
    }

    /// Begins a part for the cache; nil if the listing is not cached.
    private func beginPart(of directory: ServiceDirectory, after: RowID, _ handle: HandleID) -> ListingCache.Part? {
        guard keychain.keys.state == .unlocked, !keychain.missesRows, !directory.hasPending else { return nil }
        return listings.begin(handle, directory.row, after: after)
    }

    private func endPart(_ part: ListingCache.Part?, isLast: Bool) {
        guard let part else { return }
        listings.gather(part, isLast: isLast) { keychain.keys.state == .unlocked }
    }

    private func listKnown(
        _ entries: ArraySlice<ListingCache.Entry>, of directory: ServiceDirectory, _ listing: DirectoryHandle,
        _ sink: inout some DirectorySink
    ) throws(Errno) {
        for known in entries {
            let offset = UInt64(known.row.rawValue) + Self.offsetBase
            guard sink.wantsEntries else {
                let inode = known.attributes.inode
                guard sink.add(known.name, inode: inode, type: .regular, offset: offset) else { return }
                continue
            }
            let entry = try entry(of: known, in: directory)
            guard addEntry(&sink, known.name, offset, entry.node, { entry }) else { return }
        }
        // Reports entries that were omitted before the end was known.
        try listing.end()
    }

    private enum ListedItem {
        case committed(ListingEntry<Item>)
        case pending(RowID, ItemFile)

        var row: RowID {
            switch self {
            case .committed(let listed): listed.id
            case .pending(let row, _): row
            }
        }
    }

    private func merge(_ page: [ListingEntry<Item>], _ pending: [(row: RowID, file: ItemFile)]) -> [ListedItem] {
        guard !pending.isEmpty else { return page.map { .committed($0) } }
        let rows = Set(page.map(\.id))
        let uncommitted = pending.filter { !rows.contains($0.row) }.map { ListedItem.pending($0.row, $0.file) }
        return (page.map { .committed($0) } + uncommitted).sorted { $0.row < $1.row }
    }

    // MARK: Adding entries

    /// Adds a group. Returns false if the sink is full; ignores rows of other types.
    private func add(_ group: Directory, _ sink: inout some DirectorySink) -> Bool {
        guard case .group(let groupName) = group.key,
            let name = EntryName(CanonicalName(accessGroup: groupName).bytes)
        else { return true }
        let offset = UInt64(group.id.rawValue) + Self.offsetBase
        guard sink.wantsEntries, let folder = folder(of: group) else {
            return sink.add(
                name, inode: InodeNumber(rawValue: group.file.inode), type: .directory, offset: offset)
        }
        let entry = entry(of: folder, group)
        return addEntry(&sink, name, offset, entry.node) { entry }
    }

    private func add(_ directory: Directory, in classDirectory: ClassDirectory, _ sink: inout some DirectorySink)
        -> Bool
    {
        guard case .service(let service) = directory.key, let name = EntryName(CanonicalName(service: service).bytes)
        else { return true }
        let offset = UInt64(directory.id.rawValue) + Self.offsetBase
        let inode = InodeNumber(rawValue: directory.file.inode)
        guard sink.wantsEntries else { return sink.add(name, inode: inode, type: .directory, offset: offset) }
        let entry = entry(of: directory, in: classDirectory)
        return addEntry(&sink, name, offset, entry.node) { entry }
    }

    private func add(
        _ item: Item, readAt commits: Int, in directory: ServiceDirectory, _ part: inout ListingCache.Part?,
        _ sink: inout some DirectorySink
    ) -> Bool {
        guard let name = EntryName(CanonicalName(account: item.account).bytes) else { return true }
        guard add(item, name, readAt: commits, in: directory, &sink) else { return false }
        part?.entries.append(ListingCache.Entry(row: item.id, name: name, attributes: attributes(of: item)))
        return true
    }

    private func add(
        _ item: Item, _ name: EntryName, readAt commits: Int, in directory: ServiceDirectory,
        _ sink: inout some DirectorySink
    ) -> Bool {
        let offset = UInt64(item.id.rawValue) + Self.offsetBase
        let inode = InodeNumber(rawValue: item.file.inode)
        guard sink.wantsEntries else {
            return sink.add(name, inode: inode, type: .regular, offset: offset)
        }
        let entry = entry(of: item, readAt: commits, in: directory)
        return addEntry(&sink, name, offset, entry.node) { entry }
    }

    /// Returns the item of a name that was pending before; nil if it has been dropped or moved since.
    private func item(of file: ItemFile, stillIn row: RowID) -> Item? {
        withState(of: file) { state in state.isDetached || state.row != row ? nil : state.item }
    }

    private func add(
        _ item: Item, _ file: ItemFile, _ row: RowID, _ sink: inout some DirectorySink
    ) throws(Errno) -> Bool {
        guard let name = EntryName(CanonicalName(account: item.account).bytes) else { return true }
        let offset = UInt64(row.rawValue) + Self.offsetBase
        guard sink.wantsEntries else {
            return sink.add(name, inode: InodeNumber(rawValue: item.file.inode), type: .regular, offset: offset)
        }
        guard let entry = try entry(ofPending: file) else {
            // Without attributes: the kernel looks it up if they are needed.
            return sink.add(name, inode: InodeNumber(rawValue: item.file.inode), type: .regular, offset: offset)
        }
        return addEntry(&sink, name, offset, entry.node) { entry }
    }

    /// Adds an entry. Reverts the lookup if the sink has no space for it.
    private func addEntry(
        _ sink: inout some DirectorySink, _ name: EntryName, _ offset: UInt64, _ node: NodeID, _ entry: () -> Entry
    ) -> Bool {
        guard sink.add(name, entry: entry(), offset: offset) else {
            forget(node, count: 1)
            return false
        }
        return true
    }
}

extension ListingEntry {
    fileprivate var isDamaged: Bool {
        if case .damaged = self { true } else { false }
    }
}

extension ListingEntry<Directory> {
    var id: RowID {
        switch self {
        case .available(let directory): directory.id
        case .unavailable(let id), .damaged(let id), .foreign(let id): id
        }
    }
}
