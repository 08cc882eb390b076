import FileSystemCore
import Synchronization

/// The files of which the kernel may cache outdated pages (contract, H1).
///
/// read(2) bypasses the page cache; sendfile, splice and private mappings do not, and their pages outlive a lock and a
/// commit unless they are dropped. An operation adds its file here and notifies the kernel before its reply.
final class PageCacheUse: Sendable {
    private let count = Atomic<Int>(0)
    private let nodes = Mutex<Set<NodeID>>([])

    /// Requests that the pages of a file are dropped, if it may have any.
    func add(_ state: inout ItemFile.State) {
        guard state.mayHavePages else { return }
        // A later read through the page cache sets it again, and the drop waits for pages that are being read.
        state.mayHavePages = false
        let node = state.node
        nodes.withLock { nodes in
            nodes.insert(node)
            count.store(nodes.count, ordering: .releasing)
        }
    }

    /// Moves the notifications into a request.
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
