import FileSystemCore
import Keychain
import Synchronization

/// A node of the tree that the kernel knows. Items that are not in use have no node object (``IdleItems``).
final class Node: Sendable {
    enum Content: Sendable {
        /// A directory above the service directories, including the root.
        case folder(ScopeDirectory)
        case service(ServiceDirectory)
        case item(ItemFile)
        case controlDirectory
        case controlFile(ControlFileKind)
    }

    let id: NodeID
    private let held: Mutex<Content>
    private let rowNumber: Atomic<Int64>

    init(id: NodeID, row: RowID = .none, content: Content) {
        self.id = id
        held = Mutex(content)
        rowNumber = Atomic(row.rawValue)
    }

    /// The key in the table: the row, or the inode number of a scope directory; none for a file that has lost its row.
    var row: RowID {
        get { RowID(rawValue: rowNumber.load(ordering: .relaxed)) }
        set { rowNumber.store(newValue.rawValue, ordering: .relaxed) }
    }

    /// The object that the node represents.
    var content: Content { held.withLock { $0 } }

    /// The file of an item; nil for other nodes.
    var file: ItemFile? {
        if case .item(let file) = content { file } else { nil }
    }

    /// The directory of an item that is not in use, if the store contains everything that is known of it; nil for all
    /// other nodes.
    ///
    /// Must be called while no other thread can get a reference to the node.
    var idleDirectory: ServiceDirectory? {
        held.withLock { content in
            guard case .item(var file) = content else { return nil }
            // Only this reference may remain.
            content = .controlDirectory
            defer { content = .item(file) }
            guard isKnownUniquelyReferenced(&file) else { return nil }
            return file.idleDirectory
        }
    }
}

/// The control files of a mount (contract, section 9).
enum ControlFileKind: String, CaseIterable, Sendable {
    /// Read: the status as JSON, which `keychainfs status` shows.
    case status
    /// Write: a command; then read: its result.
    case control
    /// Write: locks, regardless of the contents. Commands queue on ``control`` in the kernel, which permits one writer
    /// of a file at a time; a lock does not wait for them (contract, L2).
    case lock
    /// Write: a request of Keychain Services; then read: its response.
    case rpc
}

/// A service directory that the kernel knows.
final class ServiceDirectory: Sendable {
    /// The pending names, which exist for all processes but are not in the store yet (F2).
    struct Pending {
        var rows: [CanonicalName: RowID] = [:]
        var files: [RowID: ItemFile] = [:]
        /// Whether the directory was removed, so that no name can be created in it.
        var isRemoved = false
    }

    let node: NodeID
    let row: RowID
    /// The parent directory, which a rename may change.
    private let parent: Mutex<ClassDirectory>
    let pending = Mutex(Pending())
    let removedAttributes = Remains()
    /// The number of pending names, for callers that must not lock ``pending``.
    private let pendingCount = Atomic<Int>(0)

    init(node: NodeID, row: RowID, classDirectory: ClassDirectory) {
        self.node = node
        self.row = row
        parent = Mutex(classDirectory)
    }

    var classDirectory: ClassDirectory { parent.withLock { $0 } }

    var container: ContainerKey { classDirectory.key }

    func move(to classDirectory: ClassDirectory) {
        parent.withLock { $0 = classDirectory }
    }

    /// Whether it contains a pending name.
    var hasPending: Bool { pendingCount.load(ordering: .acquiring) > 0 }

    /// Returns the file of a pending name.
    func pendingFile(_ name: CanonicalName) -> ItemFile? {
        pending.withLock { pending in pending.rows[name].flatMap { pending.files[$0] } }
    }

    /// Adds a pending name. Returns false if the name is pending already or the directory was removed.
    func addPending(_ file: ItemFile, _ name: CanonicalName, _ row: RowID) -> Bool {
        pending.withLock { pending in
            guard !pending.isRemoved, pending.rows[name] == nil else { return false }
            pending.rows[name] = row
            pending.files[row] = file
            pendingCount.add(1, ordering: .releasing)
            return true
        }
    }

    /// Removes a pending name that was committed or dropped.
    func removePending(_ name: CanonicalName, _ row: RowID) {
        pending.withLock { pending in
            guard pending.rows[name] == row else { return }
            pending.rows[name] = nil
            pending.files[row] = nil
            pendingCount.subtract(1, ordering: .releasing)
        }
    }

    /// Returns the files of pending names after row `after`, in the order of rows.
    func pendingFiles(after: RowID) -> [(row: RowID, file: ItemFile)] {
        pending.withLock { pending in
            pending.files.filter { $0.key > after }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        }
    }
}
