import FileSystemCore
import Keychain

/// The nodes, rows and descriptors in use. Protected by `KeychainFileSystem.table`.
struct InodeTable: ~Copyable {
    private var nodes: NodeTable<Node>
    private var idle = IdleItems()
    /// The node IDs of items, in use or not, by their rows.
    private var items = SparseArray<UInt64>()
    /// The maximum number of items that the kernel knew since most of them were last forgotten.
    private var peakItemCount = 0
    /// The number of nodes above which unused nodes are released.
    private var nodeLimit = Self.leastNodes
    static let leastNodes = 4096
    /// Service directories and groups by their rows, other scope directories by their inode numbers, which no row has.
    private var directories: [RowID: Node] = [:]
    private var handles: [HandleID: Handle] = [:]
    private var nextHandle: UInt64 = 1

    private let root: Node

    init(root: Node) {
        self.root = root
        nodes = NodeTable(root: root)
    }

    // MARK: Nodes

    /// Returns a node ID that has not been used in this mount.
    mutating func makeID() -> NodeID { nodes.makeID() }

    /// Returns the node with an ID; nil if the kernel should not know it. Creates the file of an item if necessary.
    mutating func node(_ id: NodeID) -> Node? {
        if let node = nodes[id] { return node }
        guard let (row, directory, lookups) = idle.take(id) else { return nil }
        // The kernel's present object for the directory, if it has forgotten the previous one.
        let file = ItemFile(node: id, row: row, directory: service(directory.row) ?? directory, item: nil)
        return addLookup(file, as: row, count: lookups)
    }

    /// Adds the node of an item that is in use, with its lookup count.
    @discardableResult
    private mutating func addLookup(_ file: ItemFile, as row: RowID, count: UInt64 = 1) -> Node {
        let node = Node(id: file.node, row: row, content: .item(file))
        nodes.addLookups(node, as: file.node, count: count)
        if nodes.count > nodeLimit { releaseUnusedFiles() }
        return node
    }

    /// Returns items that were used once to their compact form. Amortized O(1).
    private mutating func releaseUnusedFiles() {
        nodes.removeUnreferenced { id, node, lookups in
            guard let directory = node.idleDirectory else { return false }
            return idle.add(id, row: node.row, in: directory, lookups: lookups)
        }
        nodeLimit = max(Self.leastNodes, nodes.count * 2)
    }

    /// The number of nodes that the kernel knows.
    var count: Int { nodes.count + idle.count }
    var usedCount: Int { nodes.count }

    /// Increments the lookup count of a node.
    mutating func remember(_ node: Node) { nodes.addLookups(node, as: node.id) }

    /// Adds a node that exists as long as the mount.
    mutating func addFixed(_ content: Node.Content) -> Node {
        let node = Node(id: nodes.makeID(), content: content)
        nodes.addLookups(node, as: node.id)
        return node
    }

    /// Returns the directory of a row; creates it if the kernel does not know it. Increments its lookup count.
    mutating func rememberService(_ row: RowID, in classDirectory: ClassDirectory) -> ServiceDirectory {
        if let node = directories[row], case .service(let directory) = node.content {
            nodes.addLookups(node, as: node.id)
            return directory
        }
        let id = nodes.makeID()
        let directory = ServiceDirectory(node: id, row: row, classDirectory: classDirectory)
        remember(directory: Node(id: id, row: row, content: .service(directory)))
        return directory
    }

    /// Returns the node of a scope directory; creates it if the kernel does not know it. Increments its lookup count.
    mutating func rememberFolder(_ folder: ScopeDirectory) -> Node {
        guard !folder.isRoot, let row = Int64(exactly: folder.inode.rawValue).map(RowID.init(rawValue:)) else {
            return root
        }
        if let node = directories[row] {
            nodes.addLookups(node, as: node.id)
            return node
        }
        let node = Node(id: nodes.makeID(), row: row, content: .folder(folder))
        remember(directory: node)
        return node
    }

    private mutating func remember(directory node: Node) {
        directories[node.row] = node
        nodes.addLookups(node, as: node.id)
    }

    /// Returns the node ID of an item, and its file if it has one. Increments its lookup count.
    mutating func rememberItem(_ row: RowID, in directory: ServiceDirectory) -> KnownItem {
        if let id = itemID(row) {
            if idle.remember(id, in: directory) { return KnownItem(id: id, file: nil) }
            if let node = node(id) {
                nodes.addLookups(node, as: id)
                return KnownItem(id: id, file: node.file)
            }
        }
        let id = nodes.makeID()
        note(id, as: row)
        if idle.add(id, row: row, in: directory) { return KnownItem(id: id, file: nil) }
        let file = ItemFile(node: id, row: row, directory: directory, item: nil)
        addLookup(file, as: row)
        return KnownItem(id: id, file: file)
    }

    /// Adds a new file with one lookup.
    mutating func add(_ file: ItemFile, as row: RowID) {
        note(file.node, as: row)
        addLookup(file, as: row)
    }

    private mutating func note(_ id: NodeID, as row: RowID) {
        items[Self.itemIndex(row)] = id.rawValue
        peakItemCount = max(peakItemCount, items.count)
    }

    private static func itemIndex(_ row: RowID) -> UInt64 { UInt64(bitPattern: row.rawValue) }

    /// Increments the lookup count of a file that the kernel knows. Returns false if it knows it no longer.
    mutating func remember(_ file: ItemFile) -> Bool {
        guard let node = nodes[file.node] else { return false }
        nodes.addLookups(node, as: file.node)
        return true
    }

    /// Decrements a lookup count. A directory with a pending name is kept for the next lookup.
    ///
    /// - Returns: Whether the kernel has forgotten most of the nodes that it once knew.
    mutating func forget(_ id: NodeID, count: UInt64) -> Bool {
        if let row = idle.forget(id, count: count) { return forgotten(id, row) }
        guard let node = nodes.forget(id, count: count) else { return false }
        if case .service(let directory) = node.content, directory.hasPending { return false }
        if directories[node.row] === node { directories[node.row] = nil }
        return forgotten(id, node.row)
    }

    private mutating func forgotten(_ id: NodeID, _ row: RowID) -> Bool {
        guard items[Self.itemIndex(row)] == id.rawValue else { return false }
        _ = items.remove(at: Self.itemIndex(row))
        guard peakItemCount > Self.leastNodes, items.count < peakItemCount / 8 else { return false }
        peakItemCount = items.count
        return true
    }

    /// Returns the node ID of an item that the kernel knows, in use or not.
    private func itemID(_ row: RowID) -> NodeID? {
        items[Self.itemIndex(row)].map(NodeID.init(rawValue:))
    }

    /// Returns the file of an item that the kernel knows; creates it if necessary.
    mutating func item(_ row: RowID) -> ItemFile? { itemID(row).flatMap { node($0)?.file } }

    /// Returns the item of a row if the kernel knows it, in use or not.
    func knownItem(_ row: RowID) -> KnownItem? {
        itemID(row).map { KnownItem(id: $0, file: nodes[$0]?.file) }
    }

    /// Returns the directory of a class if the kernel knows it.
    func classDirectory(_ key: ContainerKey) -> NodeID? {
        node { if case .classDirectory(let classDirectory) = $0 { classDirectory.key == key } else { false } }
    }

    /// Returns the directory of all groups if the kernel knows it.
    func groups() -> NodeID? {
        node { if case .groups = $0 { true } else { false } }
    }

    private func node(_ isIt: (ScopeDirectory) -> Bool) -> NodeID? {
        directories.values.first { if case .folder(let folder) = $0.content { isIt(folder) } else { false } }?.id
    }

    /// Returns the service directory of a row if the kernel knows it.
    func service(_ row: RowID) -> ServiceDirectory? {
        if let node = directories[row], case .service(let directory) = node.content { directory } else { nil }
    }

    /// Returns the group of a row, as known to the kernel's nodes.
    func group(_ row: RowID) -> AccessGroup? {
        if let node = directories[row], case .folder(let folder) = node.content { folder.group } else { nil }
    }

    /// Returns the rows of the groups in whose directories the kernel knows a node, without the default group.
    func groupRows() -> Set<RowID> {
        let groups = directories.values.compactMap { node -> AccessGroup? in
            switch node.content {
            case .folder(let folder): folder.group
            case .service(let directory): directory.classDirectory.group
            default: nil
            }
        }
        return Set(groups.map(\.row)).subtracting([.none])
    }

    /// Updates the name of a group.
    func renameGroup(_ row: RowID, to name: [UInt8]) {
        for node in directories.values {
            switch node.content {
            case .folder(let folder): if let group = folder.group, group.row == row { group.rename(name) }
            case .service(let directory):
                if directory.classDirectory.group.row == row { directory.classDirectory.group.rename(name) }
            default: break
            }
        }
    }

    /// Gives a file another row. The file that had it is detached.
    mutating func rebind(_ file: ItemFile, from old: RowID, to new: RowID) {
        guard let node = nodes[file.node] else { return }
        detachItem(new)
        _ = items.remove(at: Self.itemIndex(old))
        note(file.node, as: new)
        node.row = new
    }

    /// Detaches the file of a deleted row.
    mutating func detachItem(_ row: RowID) {
        guard let id = items.remove(at: Self.itemIndex(row)).map(NodeID.init(rawValue:)) else { return }
        nodes[id]?.row = .none
        idle.detach(id)
    }

    /// Removes a directory whose row has been deleted.
    mutating func detachDirectory(_ row: RowID) {
        directories.removeValue(forKey: row)?.row = .none
    }

    /// Returns all files of items that have been used since the kernel knows them.
    func allItems() -> [ItemFile] {
        var files: [ItemFile] = []
        nodes.forEach { _, node in if let file = node.file { files.append(file) } }
        return files
    }

    /// Returns the nodes of all items that the kernel knows.
    func allItemNodes() -> NodeSet {
        var ids = NodeSet()
        idle.forEach { ids.insert($0) }
        nodes.forEach { id, node in if node.file != nil { ids.insert(id) } }
        return ids
    }

    // MARK: Handles

    mutating func open(_ handle: Handle) -> HandleID {
        defer { nextHandle += 1 }
        handles[HandleID(rawValue: nextHandle)] = handle
        return HandleID(rawValue: nextHandle)
    }

    func handle(_ id: HandleID) -> Handle? { handles[id] }

    /// Returns each file with a descriptor once.
    func openItems() -> [ItemFile] {
        var seen: Set<ObjectIdentifier> = []
        return handles.values.compactMap(\.itemFile).filter { seen.insert(ObjectIdentifier($0)).inserted }
    }

    /// Drops the values of descriptors that a lock has closed, because their programs may never close them.
    mutating func emptyClosedHandles() {
        for (id, handle) in handles where handle.isClosedByLock { handles[id] = handle.emptied }
    }

    /// Returns all open `rpc` files.
    func allExchanges() -> [RPCHandle] {
        handles.values.compactMap { handle in
            if case .exchange(let exchange) = handle { exchange } else { nil }
        }
    }

    /// Removes a descriptor. The file of one for writing gets one more lookup, because a FORGET may be served before the
    /// end of its RELEASE, and a pending name needs its node until then.
    mutating func close(_ id: HandleID) -> Handle? {
        guard let handle = handles.removeValue(forKey: id) else { return nil }
        if case .writer(let writer) = handle { _ = remember(writer.file) }
        return handle
    }
}

/// An item that the kernel knows. It has no file unless it is in use.
struct KnownItem {
    let id: NodeID
    let file: ItemFile?
}
