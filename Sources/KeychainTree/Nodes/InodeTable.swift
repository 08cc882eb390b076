import FileSystemCore
import Keychain

/// Which nodes, rows and descriptors are in use. Guarded by `KeychainTree.table`.
struct InodeTable: ~Copyable {
    private var nodes: NodeTable<Node>
    private var idle = IdleItems()
    /// The node numbers of items, used or not, by their rows.
    private var items = SparseArray<UInt64>()
    /// How many items the kernel knew when most of them were last forgotten, or at most since.
    private var peakItemCount = 0
    /// So many nodes are kept before those that are not used any more are looked for.
    private var nodeLimit = Self.leastNodes
    static let leastNodes = 4096
    /// Services and groups by their rows, other folders by their inode numbers, which no row has.
    private var directories: [RowID: Node] = [:]
    private var handles: [HandleID: Handle] = [:]
    private var nextHandle: UInt64 = 1

    private let root: Node

    init(root: Node) {
        self.root = root
        nodes = NodeTable(root: root)
    }

    // MARK: Nodes

    /// A number that no node of this mount has had.
    mutating func makeID() -> NodeID { nodes.makeID() }

    /// The node of that number, or nil if the kernel should not know it. An item gets its file now, if it has none.
    mutating func node(_ id: NodeID) -> Node? {
        if let node = nodes[id] { return node }
        guard let (row, directory, lookups) = idle.take(id) else { return nil }
        // The object that the kernel has now for the directory, if it has forgotten it in between.
        let file = ItemFile(node: id, row: row, directory: service(directory.row) ?? directory, item: nil)
        return addLookup(file, as: row, count: lookups)
    }

    /// Adds the node of an item that is used, and its lookups.
    @discardableResult
    private mutating func addLookup(_ file: ItemFile, as row: RowID, count: UInt64 = 1) -> Node {
        let node = Node(id: file.node, row: row, content: .item(file))
        nodes.addLookups(node, as: file.node, count: count)
        if nodes.count > nodeLimit { releaseUnusedFiles() }
        return node
    }

    /// Items that were used once take little room again. Amortized O(1).
    private mutating func releaseUnusedFiles() {
        nodes.removeUnreferenced { id, node, lookups in
            guard let directory = node.idleDirectory else { return false }
            return idle.add(id, row: node.row, in: directory, lookups: lookups)
        }
        nodeLimit = max(Self.leastNodes, nodes.count * 2)
    }

    /// How many nodes the kernel knows, and how many of them take more than the few bytes of an idle item.
    var count: Int { nodes.count + idle.count }
    var usedCount: Int { nodes.count }

    /// Counts a lookup of a node.
    mutating func remember(_ node: Node) { nodes.addLookups(node, as: node.id) }

    /// A node that stays as long as the mount.
    mutating func addFixed(_ content: Node.Content) -> Node {
        let node = Node(id: nodes.makeID(), content: content)
        nodes.addLookups(node, as: node.id)
        return node
    }

    /// The directory of a row, made if the kernel does not know it; counts a lookup.
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

    /// The node of a folder, made if the kernel does not know it; counts a lookup.
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

    /// The number of an item, and its file if it has one; counts a lookup.
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

    /// A new file and its first lookup.
    mutating func add(_ file: ItemFile, as row: RowID) {
        note(file.node, as: row)
        addLookup(file, as: row)
    }

    private mutating func note(_ id: NodeID, as row: RowID) {
        items[Self.itemIndex(row)] = id.rawValue
        peakItemCount = max(peakItemCount, items.count)
    }

    private static func itemIndex(_ row: RowID) -> UInt64 { UInt64(bitPattern: row.rawValue) }

    /// Counts a lookup of a file that has a node already.
    mutating func remember(_ file: ItemFile) {
        if let node = nodes[file.node] { nodes.addLookups(node, as: file.node) }
    }

    /// The kernel gives back `count` lookups. A directory with a name that is not committed is kept for the next one.
    ///
    /// Returns whether most of what the kernel once knew is forgotten.
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

    /// The number of an item that the kernel knows, used or not.
    private func itemID(_ row: RowID) -> NodeID? {
        items[Self.itemIndex(row)].map(NodeID.init(rawValue:))
    }

    /// The file of an item that the kernel knows; it gets one now, if it has none.
    mutating func item(_ row: RowID) -> ItemFile? { itemID(row).flatMap { node($0)?.file } }

    /// The item that the kernel knows for a row, used or not.
    func knownItem(_ row: RowID) -> KnownItem? {
        itemID(row).map { KnownItem(id: $0, file: nodes[$0]?.file) }
    }

    /// The directory of a class, if the kernel knows it.
    func classDirectory(_ key: ContainerKey) -> NodeID? {
        node { if case .classDirectory(let classDirectory) = $0 { classDirectory.key == key } else { false } }
    }

    /// The directory of all groups, if the kernel knows it.
    func groups() -> NodeID? {
        node { if case .groups = $0 { true } else { false } }
    }

    private func node(_ isIt: (ScopeDirectory) -> Bool) -> NodeID? {
        directories.values.first { if case .folder(let folder) = $0.content { isIt(folder) } else { false } }?.id
    }

    /// The service directory that the kernel knows for a row.
    func service(_ row: RowID) -> ServiceDirectory? {
        if let node = directories[row], case .service(let directory) = node.content { directory } else { nil }
    }

    /// The group of that row, as the nodes that the kernel knows have it.
    func group(_ row: RowID) -> AccessGroup? {
        if let node = directories[row], case .folder(let folder) = node.content { folder.group } else { nil }
    }

    /// The rows of the groups in whose directories the kernel knows a node, without the default group.
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

    /// A group has got another name.
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

    /// A file has got another row; the file that had it is detached and has none any more.
    mutating func rebind(_ file: ItemFile, from old: RowID, to new: RowID) {
        guard let node = nodes[file.node] else { return }
        detachItem(new)
        _ = items.remove(at: Self.itemIndex(old))
        note(file.node, as: new)
        node.row = new
    }

    /// A row is gone; its file lives on without one.
    mutating func detachItem(_ row: RowID) {
        guard let id = items.remove(at: Self.itemIndex(row)).map(NodeID.init(rawValue:)) else { return }
        nodes[id]?.row = .none
        idle.detach(id)
    }

    /// A directory's row is gone.
    mutating func detachDirectory(_ row: RowID) {
        directories.removeValue(forKey: row)?.row = .none
    }

    /// All files of items that somebody has used since the kernel knows them.
    func allItems() -> [ItemFile] {
        var files: [ItemFile] = []
        nodes.forEach { _, node in if let file = node.file { files.append(file) } }
        return files
    }

    /// The nodes of all items that the kernel knows.
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

    /// Each file that has a descriptor, once.
    func openItems() -> [ItemFile] {
        var seen: Set<ObjectIdentifier> = []
        return handles.values.compactMap(\.itemFile).filter { seen.insert(ObjectIdentifier($0)).inserted }
    }

    /// Drops the values of descriptors that a lock has closed: their programs may never close them.
    mutating func emptyClosedHandles() {
        for (id, handle) in handles where handle.isClosedByLock { handles[id] = handle.emptied }
    }

    /// All open `rpc` files.
    func allExchanges() -> [RPCHandle] {
        handles.values.compactMap { handle in
            if case .exchange(let exchange) = handle { exchange } else { nil }
        }
    }

    mutating func close(_ id: HandleID) -> Handle? { handles.removeValue(forKey: id) }
}

/// An item that the kernel knows; one that nobody uses has no file.
struct KnownItem {
    let id: NodeID
    let file: ItemFile?
}
