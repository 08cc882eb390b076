import FileSystemCore
import Synchronization

/// Files of which the kernel may hold pages that nobody should see any more (contract, H1).
///
/// read(2) passes the page cache by; sendfile, splice and private mappings do not, and their pages outlive a lock and a
/// commit unless they are dropped. An operation adds its file here and tells the kernel before its answer.
final class PageCacheUse: Sendable {
    private let count = Atomic<Int>(0)
    private let nodes = Mutex<Set<NodeID>>([])

    /// If pages of the file may be cached: they are to go.
    func add(_ state: inout ItemFile.State) {
        guard state.mayHavePages else { return }
        // Whoever reads through the page cache after this sets it again, and the drop waits for pages under way.
        state.mayHavePages = false
        let node = state.node
        nodes.withLock { nodes in
            nodes.insert(node)
            count.store(nodes.count, ordering: .releasing)
        }
    }

    /// Moves what is to be told into a request.
    func drain(_ request: inout Request) {
        guard count.load(ordering: .acquiring) > 0 else { return }
        let stale = nodes.withLock { nodes in
            defer {
                nodes = []
                count.store(0, ordering: .releasing)
            }
            return nodes
        }
        request.notificationsBeforeReply += stale.map { .inode($0, pages: true) }
    }
}
