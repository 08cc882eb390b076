import FileSystemCore
import FileSystemTesting
import SystemPackage

extension MemoryFileSystem {
    func openHandle(_ node: NodeID) throws(Errno) -> HandleID {
        try state.withLock { state throws(Errno) in
            guard state.nodes[node] != nil else { throw Errno(rawValue: 116) }
            let handle = HandleID(rawValue: state.next)
            state.next += 1
            state.handles[handle] = node
            state.overlappingOpens = max(state.overlappingOpens, state.nodes[node]?.openFiles ?? 0)
            state.nodes[node]?.openFiles += 1
            return handle
        }
    }

    func closeHandle(_ handle: HandleID) {
        state.withLock { state in
            guard let node = state.handles.removeValue(forKey: handle) else {
                return state.calls.append("released twice")
            }
            state.nodes[node]?.openFiles -= 1
        }
    }

    func create(
        _ request: inout Request, parent: NodeID, name: EntryName, permissions: UInt32, flags: OpenFlags
    ) throws(Errno) -> (Entry, OpenFileInfo) {
        let id = try make(parent, name, .regular, permissions)
        return (try handOut(id), try opened(id))
    }

    func open(_ request: inout Request, node: NodeID, flags: OpenFlags) throws(Errno) -> OpenFileInfo {
        note("open \(flags.rawValue & 0o3003)")
        if flags.contains(.truncate) { try resize(node, 0) }
        return try opened(node)
    }

    private func opened(_ node: NodeID) throws(Errno) -> OpenFileInfo {
        var file = script.withLock { $0.opened }
        file.handle = try openHandle(node)
        return file
    }

    private func resize(_ node: NodeID, _ size: UInt64) throws(Errno) {
        guard size <= 1 << 24 else { throw .fileTooLarge }
        try with(node) { node in
            let missing = Int(size) - node.data.count
            node.data = Array(node.data.prefix(Int(size))) + [UInt8](repeating: 0, count: max(missing, 0))
            node.attributes.size = size
        }
    }

    func read(
        _ request: inout Request, node: NodeID, handle: HandleID, offset: UInt64, size: Int, owner: LockOwner?,
        body: (inout Request, RawSpan) -> Void
    ) throws(Errno) {
        note(owner.map { "read by \($0.rawValue)" } ?? "read for the page cache")
        let script = script.withLock { $0 }
        if let onRead = script.onRead, !onRead(request) {
            if request.isInterrupted { throw .interrupted }
            return
        }
        if script.readNotifies { request.notificationsBeforeReply = script.notifications }
        let data = try with(node) { node in Array(node.data.dropFirst(Int(clamping: offset)).prefix(size)) }
        body(&request, data.span.bytes)
    }

    func write(
        _ request: inout Request, node: NodeID, handle: HandleID, offset: UInt64, data: RawSpan, owner: LockOwner,
        flags: OpenFlags
    ) throws(Errno) -> Int {
        note("write \(data.byteCount) by \(owner.rawValue)")
        let count = data.byteCount
        if let onWrite = script.withLock({ $0.onWrite }), !onWrite(request) { return count }
        let bytes = data.withUnsafeBytes { Array($0) }
        guard offset <= 1 << 24 else { throw .fileTooLarge }
        let end = offset + UInt64(bytes.count)
        if try with(node, { $0.attributes.size }) < end { try resize(node, end) }
        try with(node) { $0.data.replaceSubrange(Int(offset)..<Int(end), with: bytes) }
        return bytes.count
    }

    func flush(
        _ request: inout Request, node: NodeID, handle: HandleID, owner: LockOwner
    ) throws(Errno) {
        note("flush by \(owner.rawValue)")
        script.withLock { $0.onFlush }?(request)
    }

    func fsync(
        _ request: inout Request, node: NodeID, handle: HandleID, dataOnly: Bool
    ) throws(Errno) { note("fsync \(dataOnly)") }

    func release(_ request: inout Request, node: NodeID, handle: HandleID) {
        note("release")
        closeHandle(handle)
    }

    func copyFileRange(
        _ request: inout Request, from: NodeID, fromHandle: HandleID, fromOffset: UInt64, to: NodeID,
        toHandle: HandleID, toOffset: UInt64, size: Int, owner: LockOwner
    ) throws(Errno) -> Int {
        note("copy")
        let data = try with(from) { Array($0.data.dropFirst(Int(clamping: fromOffset)).prefix(size)) }
        return try write(
            &request, node: to, handle: toHandle, offset: toOffset, data: data.span.bytes, owner: owner,
            flags: .writeOnly)
    }

    func getattr(
        _ request: inout Request, node: NodeID, handle: HandleID?
    ) throws(Errno) -> TimedAttributes {
        note(handle == nil ? "getattr" : "getattr with handle")
        return TimedAttributes(
            try with(node) { $0.attributes }, timeout: script.withLock { $0.attributeTimeout })
    }

    func setattr(
        _ request: inout Request, node: NodeID, changes: AttributeChanges
    ) throws(Errno) -> TimedAttributes {
        if let size = changes.size {
            note("truncate \(size) by \(changes.lockOwner.rawValue)\(changes.handle == nil ? "" : " with handle")")
            try resize(node, size)
        }
        let attributes = try with(node) { node in
            node.attributes.permissions = changes.permissions ?? node.attributes.permissions
            node.attributes.userID = changes.userID ?? node.attributes.userID
            node.attributes.groupID = changes.groupID ?? node.attributes.groupID
            Self.set(&node.attributes.accessTime, changes.accessTime)
            Self.set(&node.attributes.modificationTime, changes.modificationTime)
            return node.attributes
        }
        return TimedAttributes(attributes, timeout: script.withLock { $0.attributeTimeout })
    }

    private static func set(_ time: inout Timestamp, _ change: AttributeChanges.Time?) {
        switch change {
        case nil: break
        case .now: time = Timestamp(seconds: 2_000_000_000)
        case .at(let new): time = new
        }
    }

    func access(_ request: inout Request, node: NodeID, mask: Int32) throws(Errno) { note("access \(mask)") }

    func statfs(_ request: inout Request, node: NodeID) throws(Errno) -> FileSystemStatistics {
        FileSystemStatistics(
            blockSize: 4096, blocks: 1000, freeBlocks: 600, availableBlocks: 500, files: 70, freeFiles: 60,
            maximumNameLength: 255)
    }

    func destroy() { state.withLock { $0.destroyed += 1 } }
}
