import FileSystemCore
import Synchronization

/// An open file description (`struct file`), shared by duplicated descriptors and by processes.
final class OpenFile: Sendable {
    let node: NodeID
    let file: OpenFileInfo
    let flags: OpenFlags
    let isDirectory: Bool
    let position = Atomic<UInt64>(0)
    private let references = Atomic<Int>(1)

    init(node: NodeID, file: OpenFileInfo, flags: OpenFlags, isDirectory: Bool = false) {
        self.node = node
        self.file = file
        self.flags = flags
        self.isDirectory = isDirectory
    }

    func retain() { references.add(1, ordering: .relaxed) }

    /// Whether that was the last.
    func drop() -> Bool { references.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 }
}
