import FileSystemCore
import Keychain
import Synchronization

/// One node of the tree that the kernel knows; items that nobody uses have none (``IdleItems``).
final class Node: Sendable {
    enum Content: Sendable {
        /// A directory above the services, the root among them.
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

    /// What the table finds it by: the row, or the inode number of a folder; none for a file that has lost its row.
    var row: RowID {
        get { RowID(rawValue: rowNumber.load(ordering: .relaxed)) }
        set { rowNumber.store(newValue.rawValue, ordering: .relaxed) }
    }

    /// What it stands for.
    var content: Content { held.withLock { $0 } }

    /// The file of an item.
    var file: ItemFile? {
        if case .item(let file) = content { file } else { nil }
    }

    /// The directory of an item that nobody uses, if all that is known of it is in the store; nil of all other nodes.
    ///
    /// To be asked where nobody can get at the node meanwhile.
    var idleDirectory: ServiceDirectory? {
        held.withLock { content in
            guard case .item(var file) = content else { return nil }
            // There is to be one reference, this one.
            content = .controlDirectory
            defer { content = .item(file) }
            guard isKnownUniquelyReferenced(&file) else { return nil }
            return file.state.withLockIfAvailable { $0.isIdle ? $0.directory : nil } ?? nil
        }
    }
}

/// The control files of a mount (contract, section 9).
enum ControlFileKind: String, CaseIterable, Sendable {
    /// Read: what `keychainfs status` shows, as JSON.
    case status
    /// Write: a command; then read: its answer.
    case control
    /// Write: locks, whatever is written. Commands queue on ``control`` in the kernel, which lets one writer of a file in at
    /// a time; a lock waits for none of them (contract, L2).
    case lock
    /// Write: a request of Keychain Services; then read: its answer.
    case rpc
}

/// A service directory that the kernel knows.
final class ServiceDirectory: Sendable {
    /// Names that exist for everyone, though nothing of them is in the store yet (F2).
    struct Pending {
        var rows: [CanonicalName: RowID] = [:]
        var files: [RowID: ItemFile] = [:]
        /// Nothing can be made in a removed directory.
        var isRemoved = false
    }

    let node: NodeID
    let row: RowID
    /// The directory that it lies in; another one once it has been moved there.
    private let parent: Mutex<ClassDirectory>
    let pending = Mutex(Pending())
    let removedAttributes = Remains()
    /// How many names are pending; to be asked where ``pending`` may not be locked.
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

    /// Whether it holds a name that is nowhere else.
    var hasPending: Bool { pendingCount.load(ordering: .acquiring) > 0 }

    /// The file of a name that is not committed yet.
    func pendingFile(_ name: CanonicalName) -> ItemFile? {
        pending.withLock { pending in pending.rows[name].flatMap { pending.files[$0] } }
    }

    /// Adds a name that is not committed yet; false if there is one already or the directory is gone.
    func addPending(_ file: ItemFile, _ name: CanonicalName, _ row: RowID) -> Bool {
        pending.withLock { pending in
            guard !pending.isRemoved, pending.rows[name] == nil else { return false }
            pending.rows[name] = row
            pending.files[row] = file
            pendingCount.add(1, ordering: .releasing)
            return true
        }
    }

    /// The name has been committed, or dropped.
    func removePending(_ name: CanonicalName, _ row: RowID) {
        pending.withLock { pending in
            guard pending.rows[name] == row else { return }
            pending.rows[name] = nil
            pending.files[row] = nil
            pendingCount.subtract(1, ordering: .releasing)
        }
    }

    /// Uncommitted files whose rows follow `after`, in the order of rows.
    func pendingFiles(after: RowID) -> [(row: RowID, file: ItemFile)] {
        pending.withLock { pending in
            pending.files.filter { $0.key > after }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        }
    }
}
