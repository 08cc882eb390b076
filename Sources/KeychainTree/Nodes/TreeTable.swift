import FileSystemCore
import Keychain

/// Which nodes, rows and descriptors are in use. Guarded by `KeychainTree.table`.
struct TreeTable: ~Copyable {
    var nodes: NodeTable<Node>
    private var items: [RowID: Node] = [:]
    private var services: [RowID: Node] = [:]
    /// The row under which a node stands in `items` or `services`.
    private var rows: [NodeID: RowID] = [:]
    private var handles: [HandleID: Handle] = [:]
    private var nextHandle: UInt64 = 1

    init(root: Node) {
        nodes = NodeTable(root: root)
    }

    // MARK: Nodes

    /// A node that stays as long as the mount.
    mutating func addFixed(_ content: Node.Content) -> Node {
        let node = Node(id: nodes.makeID(), content: content)
        nodes.remember(node, as: node.id)
        return node
    }

    /// The node of a row, made if the kernel does not know it; counts a lookup.
    mutating func rememberService(_ row: RowID, in container: ContainerKey) -> ServiceDirectory {
        if let node = services[row], case .service(let directory) = node.content {
            nodes.remember(node, as: node.id)
            return directory
        }
        let id = nodes.makeID()
        let directory = ServiceDirectory(node: id, row: row, container: container)
        let node = Node(id: id, content: .service(directory))
        services[row] = node
        rows[id] = row
        nodes.remember(node, as: id)
        return directory
    }

    /// The file of a row, made if the kernel does not know it; counts a lookup.
    mutating func rememberItem(_ item: Item, in directory: ServiceDirectory, keepItem: Bool) -> ItemFile {
        if let node = items[item.id], case .item(let file) = node.content {
            nodes.remember(node, as: node.id)
            return file
        }
        let id = nodes.makeID()
        let file = ItemFile(node: id, row: item.id, directory: directory, item: keepItem ? item : nil)
        add(file, as: item.id)
        return file
    }

    /// The file of a row that only another device can open; counts a lookup.
    mutating func rememberForeign(_ row: RowID, in directory: ServiceDirectory) -> ItemFile {
        if let node = items[row], case .item(let file) = node.content {
            nodes.remember(node, as: node.id)
            return file
        }
        let file = ItemFile(node: nodes.makeID(), row: row, directory: directory, item: nil)
        add(file, as: row)
        return file
    }

    /// A new file and its first lookup.
    mutating func add(_ file: ItemFile, as row: RowID) {
        let node = Node(id: file.node, content: .item(file))
        items[row] = node
        rows[node.id] = row
        nodes.remember(node, as: node.id)
    }

    /// Counts a lookup of a file that has a node already.
    mutating func remember(_ file: ItemFile) {
        if let node = nodes[file.node] { nodes.remember(node, as: file.node) }
    }

    /// The kernel gives back `count` lookups. A directory with a name that is not committed is kept for the next one.
    mutating func forget(_ id: NodeID, count: UInt64) {
        guard let node = nodes.forget(id, count: count) else { return }
        if case .service(let directory) = node.content, directory.hasPending { return }
        guard let row = rows.removeValue(forKey: id) else { return }
        if items[row] === node { items[row] = nil }
        if services[row] === node { services[row] = nil }
    }

    /// The file that the kernel knows for a row.
    func item(_ row: RowID) -> ItemFile? {
        if let node = items[row], case .item(let file) = node.content { file } else { nil }
    }

    /// The service directory that the kernel knows for a row.
    func service(_ row: RowID) -> ServiceDirectory? {
        if let node = services[row], case .service(let directory) = node.content { directory } else { nil }
    }

    /// A file has got another row; the file that had it is detached and has none any more.
    mutating func rebind(_ file: ItemFile, from old: RowID, to new: RowID) {
        guard let node = nodes[file.node] else { return }
        if let replaced = items[new] { rows[replaced.id] = nil }
        items[old] = nil
        items[new] = node
        rows[file.node] = new
    }

    /// A row is gone; its file lives on without one.
    mutating func detachItem(_ row: RowID) {
        if let node = items.removeValue(forKey: row) { rows[node.id] = nil }
    }

    /// A directory's row is gone.
    mutating func detachService(_ row: RowID) {
        if let node = services.removeValue(forKey: row) { rows[node.id] = nil }
    }

    /// All files that the kernel knows.
    func allItems() -> [ItemFile] {
        var files: [ItemFile] = []
        nodes.forEach { _, node in
            if case .item(let file) = node.content { files.append(file) }
        }
        return files
    }

    // MARK: Handles

    mutating func open(_ handle: Handle) -> HandleID {
        defer { nextHandle += 1 }
        handles[HandleID(rawValue: nextHandle)] = handle
        return HandleID(rawValue: nextHandle)
    }

    func handle(_ id: HandleID) -> Handle? { handles[id] }

    mutating func close(_ id: HandleID) -> Handle? { handles.removeValue(forKey: id) }
}
