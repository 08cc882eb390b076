import FileSystemCore
import Keychain
import Synchronization

/// One node of the tree, as long as the kernel knows it.
final class Node: Sendable {
    enum Content: Sendable {
        case root
        /// The directories of one class.
        case classDirectory(ContainerKey)
        case service(ServiceDirectory)
        case item(ItemFile)
        case controlDirectory
        case controlFile(ControlFile)
    }

    let id: NodeID
    let content: Content

    init(id: NodeID, content: Content) {
        self.id = id
        self.content = content
    }
}

/// The control files of a mount (design section 9).
enum ControlFile: String, CaseIterable, Sendable {
    /// Read: what `keychainfs status` shows, as JSON.
    case status
    /// Write: a command; then read: its answer.
    case control
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
    let container: ContainerKey
    let pending = Mutex(Pending())
    /// How many names are pending; to be asked where ``pending`` may not be locked.
    private let pendingCount = Atomic<Int>(0)

    init(node: NodeID, row: RowID, container: ContainerKey) {
        self.node = node
        self.row = row
        self.container = container
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
