import FileSystemCore
import Keychain

/// Which nodes, rows and descriptors are in use. Guarded by `KeychainTree.table`.
struct TreeTable: ~Copyable {
    var nodes: NodeTable<Node>
    private var items: [RowID: Node] = [:]
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

    /// A node that stays as long as the mount.
    mutating func addFixed(_ content: Node.Content) -> Node {
        let node = Node(id: nodes.makeID(), content: content)
        nodes.remember(node, as: node.id)
        return node
    }

    /// The directory of a row, made if the kernel does not know it; counts a lookup.
    mutating func rememberService(_ row: RowID, in place: ClassDirectory) -> ServiceDirectory {
        if let node = directories[row], case .service(let directory) = node.content {
            nodes.remember(node, as: node.id)
            return directory
        }
        let id = nodes.makeID()
        let directory = ServiceDirectory(node: id, row: row, place: place)
        remember(directory: Node(id: id, row: row, content: .service(directory)))
        return directory
    }

    /// The node of a folder, made if the kernel does not know it; counts a lookup.
    mutating func rememberFolder(_ folder: Folder) -> Node {
        guard !folder.isRoot, let row = Int64(exactly: folder.inode.rawValue).map(RowID.init(rawValue:)) else {
            return root
        }
        if let node = directories[row] {
            nodes.remember(node, as: node.id)
            return node
        }
        let node = Node(id: nodes.makeID(), row: row, content: .folder(folder))
        remember(directory: node)
        return node
    }

    private mutating func remember(directory node: Node) {
        directories[node.row] = node
        nodes.remember(node, as: node.id)
    }

    /// The node of an item, made if the kernel does not know it; counts a lookup.
    mutating func rememberItem(_ row: RowID, in directory: ServiceDirectory) -> Node {
        if let node = items[row] {
            nodes.remember(node, as: node.id)
            return node
        }
        let node = Node(id: nodes.makeID(), row: row, itemIn: directory)
        items[row] = node
        nodes.remember(node, as: node.id)
        return node
    }

    /// A new file and its first lookup.
    mutating func add(_ file: ItemFile, as row: RowID) {
        let node = Node(id: file.node, row: row, content: .item(file))
        items[row] = node
        nodes.remember(node, as: node.id)
    }

    /// Counts a lookup of a file that has a node already.
    mutating func remember(_ file: ItemFile) {
        if let node = nodes[file.node] { nodes.remember(node, as: file.node) }
    }

    /// The kernel gives back `count` lookups. A directory with a name that is not committed is kept for the next one.
    ///
    /// Returns whether most of what the kernel once knew is forgotten.
    mutating func forget(_ id: NodeID, count: UInt64) -> Bool {
        guard let node = nodes.forget(id, count: count) else { return false }
        if !node.isItem, case .service(let directory) = node.content, directory.hasPending { return false }
        if items[node.row] === node { items[node.row] = nil }
        if directories[node.row] === node { directories[node.row] = nil }
        return items.giveBackRoom()
    }

    /// The file that the kernel knows for a row.
    func item(_ row: RowID) -> ItemFile? {
        if let node = items[row], case .item(let file) = node.content { file } else { nil }
    }

    /// The node that the kernel knows for a row, used or not.
    func itemNode(_ row: RowID) -> Node? { items[row] }

    /// The directory of a class, if the kernel knows it.
    func classDirectory(_ key: ContainerKey) -> NodeID? {
        node { if case .classDirectory(let place) = $0 { place.key == key } else { false } }
    }

    /// The directory of all groups, if the kernel knows it.
    func groups() -> NodeID? {
        node { if case .groups = $0 { true } else { false } }
    }

    private func node(_ isIt: (Folder) -> Bool) -> NodeID? {
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

    /// A group has got another name.
    func renameGroup(_ row: RowID, to name: [UInt8]) {
        for node in directories.values {
            switch node.content {
            case .folder(let folder): if let group = folder.group, group.row == row { group.rename(name) }
            case .service(let directory): if directory.place.group.row == row { directory.place.group.rename(name) }
            default: break
            }
        }
    }

    /// A file has got another row; the file that had it is detached and has none any more.
    mutating func rebind(_ file: ItemFile, from old: RowID, to new: RowID) {
        guard let node = nodes[file.node] else { return }
        items[new]?.row = .none
        items[old] = nil
        items[new] = node
        node.row = new
    }

    /// A row is gone; its file lives on without one.
    mutating func detachItem(_ row: RowID) {
        items.removeValue(forKey: row)?.row = .none
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
    func allItemNodes() -> [NodeID] {
        var ids: [NodeID] = []
        nodes.forEach { id, node in if node.isItem { ids.append(id) } }
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

    /// All open `rpc` files.
    func allExchanges() -> [Exchange] {
        handles.values.compactMap { handle in
            if case .exchange(let exchange) = handle { exchange } else { nil }
        }
    }

    mutating func close(_ id: HandleID) -> Handle? { handles.removeValue(forKey: id) }
}
