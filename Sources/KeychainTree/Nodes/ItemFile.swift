import FileSystemCore
import Keychain
import Synchronization

/// A file of an item: what descriptors and the kernel's node refer to.
///
/// The item in the store follows the name, the file follows POSIX: renaming one file over another gives the row of the
/// name to the file that comes (F5). Lock order: `KeychainTree.names`, then files by ``node``, then
/// ``ServiceDirectory/pending``, then `KeychainTree.table`, then the store. No lock is held while replying.
final class ItemFile: Sendable {
    let node: NodeID
    let state: Mutex<State>

    struct State {
        /// The item's row; reserved but not yet in the store while ``isPending``.
        var row: RowID
        /// Where it lies; meaningless once detached.
        var directory: ServiceDirectory
        /// The item as last seen; nil if it has to be read. Never nil while pending or detached.
        var item: Item? {
            get { kept?.item }
            set { kept = newValue.map(KeptItem.init) }
        }
        private var kept: KeptItem?
        /// Nothing of it has been committed yet (F2).
        var isPending: Bool
        /// Unlinked or replaced: lives on through its descriptors only (F6).
        var isDetached = false
        /// The committed value of a detached file, if ``hasDetachedValue``; nil for an item without a secret.
        var detachedSecret: SealedSecret?
        /// Whether the value was kept when the file was detached: it was open then.
        var hasDetachedValue = false
        var staging: Staging?
        /// How often a lock has taken away what was staged: descriptors from before answer ENOKEY (L2).
        var losses = 0
        /// Open descriptors that can write.
        var writerCount = 0
        /// Open descriptors of any kind.
        var openCount = 0

        init(row: RowID, directory: ServiceDirectory, item: Item?, isPending: Bool) {
            self.row = row
            self.directory = directory
            kept = item.map(KeptItem.init)
            self.isPending = isPending
        }

        /// Whether there is staged content that differs from what is committed.
        var hasUncommitted: Bool { staging?.state.isUncommitted == true }
    }

    /// An item on the heap: most files have none, and their state is to be small.
    private final class KeptItem: Sendable {
        let item: Item

        init(_ item: Item) { self.item = item }
    }

    init(node: NodeID, row: RowID, directory: ServiceDirectory, item: Item?, isPending: Bool = false) {
        self.node = node
        state = Mutex(State(row: row, directory: directory, item: item, isPending: isPending))
    }
}
