import FileSystemCore
import Keychain
import Synchronization

/// One node of the tree, as long as the kernel knows it.
///
/// A listing makes many of them, so one of an item is small until somebody uses the item: it has no ``ItemFile``.
final class Node: Sendable {
    enum Content: Sendable {
        /// A directory above the services, the root among them.
        case folder(Folder)
        case service(ServiceDirectory)
        case item(ItemFile)
        case controlDirectory
        case controlFile(ControlFile)
    }

    private enum State: Sendable {
        case content(Content)
        /// An item in a directory, known by ``row`` alone.
        case idle(ServiceDirectory)
    }

    let id: NodeID
    private let state: Mutex<State>
    private let rowNumber: Atomic<Int64>

    init(id: NodeID, row: RowID = .none, content: Content) {
        self.id = id
        state = Mutex(.content(content))
        rowNumber = Atomic(row.rawValue)
    }

    /// An item that nobody has used yet.
    init(id: NodeID, row: RowID, itemIn directory: ServiceDirectory) {
        self.id = id
        state = Mutex(.idle(directory))
        rowNumber = Atomic(row.rawValue)
    }

    /// What the table finds it by: the row, or the inode number of a folder; none for a file that has lost its row.
    var row: RowID {
        get { RowID(rawValue: rowNumber.load(ordering: .relaxed)) }
        set { rowNumber.store(newValue.rawValue, ordering: .relaxed) }
    }

    /// What it stands for. An item gets its file now, if it has none.
    var content: Content {
        state.withLock { state in
            switch state {
            case .content(let content): return content
            case .idle(let directory):
                let content = Content.item(ItemFile(node: id, row: row, directory: directory, item: nil))
                state = .content(content)
                return content
            }
        }
    }

    /// The file of an item, if it has one.
    var file: ItemFile? {
        state.withLock { state in
            if case .content(.item(let file)) = state { file } else { nil }
        }
    }

    /// Whether it is an item, used or not.
    var isItem: Bool {
        state.withLock { state in
            switch state {
            case .idle, .content(.item): true
            default: false
            }
        }
    }
}

/// The control files of a mount (design section 9).
enum ControlFile: String, CaseIterable, Sendable {
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
    let remains = Remains()
    /// How many names are pending; to be asked where ``pending`` may not be locked.
    private let pendingCount = Atomic<Int>(0)

    init(node: NodeID, row: RowID, place: ClassDirectory) {
        self.node = node
        self.row = row
        parent = Mutex(place)
    }

    var place: ClassDirectory { parent.withLock { $0 } }

    var container: ContainerKey { place.key }

    func move(to place: ClassDirectory) {
        parent.withLock { $0 = place }
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
