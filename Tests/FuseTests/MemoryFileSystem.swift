import FileSystemCore
import FileSystemTesting
import Glibc
import SystemPackage

/// A file system in memory, for tests of the binding. It records its calls, and fails as its script demands.
final class MemoryFileSystem: FileSystem {
    /// The deviations from normal behavior.
    struct Script: Sendable {
        var entryTimeout = 0.0
        var attributeTimeout = 0.0
        var negativeTimeout = 0.0
        var opened = OpenFileInfo(handle: HandleID(rawValue: 0))
        /// The error of each READDIR, after that many entries.
        var listError: (after: UInt64, error: Errno)?
        /// Called in `read`; true: the bytes are given.
        var onRead: (@Sendable (borrowing Request) -> Bool)?
        /// Called in `write` before its effect. False: the data is not used, because the message has been released.
        var onWrite: (@Sendable (borrowing Request) -> Bool)?
        /// Called in `mkdir`.
        var onMakeDirectory: (@Sendable () -> Void)?
        /// Called in `flush`.
        var onFlush: (@Sendable (borrowing Request) -> Void)?
        /// Called in `getxattr` and in `setxattr` before its effect.
        var onXattr: (@Sendable () -> Void)?
        /// The notifications of `setxattr` of `user.notify` and of `read`.
        var notifications: [FileSystemCore.Notification] = []
        var readNotifies = false
    }

    struct Node: Sendable {
        var attributes: Attributes
        var data: [UInt8] = []
        var names: [EntryName: NodeID] = [:]
        /// The order of listings; nil where a name was removed.
        var order: [EntryName?] = []
        var xattrs: [[UInt8]: [UInt8]] = [:]
        var parent = NodeID.root
        var lookups: UInt64 = 0
        var openFiles = 0
        var links = 1
    }

    struct State: Sendable {
        var nodes: [NodeID: Node] = [:]
        var handles: [HandleID: NodeID] = [:]
        var next: UInt64 = 2
        var calls: [String] = []
        var destroyed = 0
        /// The largest number of files that were open when another OPEN of the node came.
        var overlappingOpens = 0
    }

    let script = MutexBox(Script())
    let state: MutexBox<State>

    init() {
        let root = Node(attributes: Self.attributes(1, .directory, 0o700))
        state = MutexBox(State(nodes: [.root: root]))
    }

    static func attributes(_ number: UInt64, _ type: FileSystemCore.FileType, _ permissions: UInt32) -> Attributes {
        let time = Timestamp(seconds: 1_000_000, nanoseconds: 5)
        return Attributes(
            inode: InodeNumber(rawValue: number + 1000), type: type, permissions: permissions,
            linkCount: type == .directory ? 2 : 1, userID: geteuid(), groupID: getegid(), size: 0, accessTime: time,
            modificationTime: time, changeTime: time)
    }

    var calls: [String] { state.withLock { $0.calls } }
    func count(_ call: String) -> Int { calls.count { $0 == call } }
    func note(_ call: String) { state.withLock { $0.calls.append(call) } }
    /// The lookup count of all nodes except the root.
    var lookups: UInt64 { state.withLock { $0.nodes.filter { $0.key != .root }.values.reduce(0) { $0 + $1.lookups } } }
    var openFiles: Int { state.withLock { $0.handles.count } }

    func with<Result>(
        _ id: NodeID, _ body: (inout Node) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        try state.withLock { state throws(Errno) in
            guard var node = state.nodes[id] else { throw Errno(rawValue: 116) }
            defer { state.nodes[id] = node }
            return try body(&node)
        }
    }

    func entry(_ id: NodeID, _ node: Node) -> Entry {
        let script = script.withLock { $0 }
        return Entry(
            node: id, attributes: node.attributes, entryTimeout: script.entryTimeout,
            attributeTimeout: script.attributeTimeout)
    }

    /// Gives an entry to the client.
    func handOut(_ id: NodeID) throws(Errno) -> Entry {
        let node = try with(id) { node in
            node.lookups += 1
            return node
        }
        return entry(id, node)
    }

    func make(
        _ parent: NodeID, _ name: EntryName, _ type: FileSystemCore.FileType, _ permissions: UInt32
    ) throws(Errno) -> NodeID {
        try state.withLock { state throws(Errno) in
            guard state.nodes[parent]?.names[name] == nil else { throw .fileExists }
            let id = NodeID(rawValue: state.next)
            state.next += 1
            state.nodes[id] = Node(attributes: Self.attributes(id.rawValue, type, permissions), parent: parent)
            state.nodes[parent]?.names[name] = id
            state.nodes[parent]?.order.append(name)
            return id
        }
    }

    /// Removes a name. Its node stays while the kernel or a handle refers to it.
    static func drop(_ name: EntryName, of parent: NodeID, in state: inout State) throws(Errno) {
        guard let id = state.nodes[parent]?.names.removeValue(forKey: name) else { throw .noSuchFileOrDirectory }
        if let index = state.nodes[parent]?.order.firstIndex(of: name) { state.nodes[parent]?.order[index] = nil }
        state.nodes[id]?.links -= 1
    }
}
