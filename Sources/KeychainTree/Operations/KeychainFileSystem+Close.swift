package import FileSystemCore
import Keychain
import Logging
import Synchronization
import SystemPackage

/// RELEASE: the end of a descriptor.
extension KeychainFileSystem {
    package func release(_ request: inout Request, node: NodeID, handle id: HandleID) {
        guard let handle = table.withLock({ $0.close(id) }) else { return }
        defer { stalePages.drain(&request) }
        var weight = handle.weight
        defer { if released.add(weight) { host.trimMemory() } }
        switch handle {
        case .control, .exchange, .directory: break
        case .reader(let file, _, _), .snapshotReader(let file, _, _):
            withState(of: file) { state in
                state.closed(writer: false)
                stalePages.add(&state)
                state.forgetUnused()
            }
        case .writer(let writer):
            defer { forget(writer.file.node, count: 1) }
            // Locked once, so that the requests that the kernel sends afterwards find its effect.
            let dropped = withState(of: writer.file) { state in
                weight = state.stagedValue?.count ?? 0
                // While it is open, so that it can be committed after a lock if the class permits that (L2).
                if state.writerCount == 1 { commitLast(&state) }
                state.closed(writer: true)
                stalePages.add(&state)
                defer { state.forgetUnused() }
                return state.writerCount == 0 ? lastClose(&state) : nil
            }
            if let dropped { request.notificationsBeforeReply.append(.allEntries(fallback: { [dropped] })) }
        }
    }

    /// Commits the staged value at the last close for writing, unless it was abandoned (F1).
    private func commitLast(_ state: inout ItemFile.State) {
        guard let stagedValue = state.stagedValue, stagedValue.state.lastClose() == .commit else { return }
        do {
            try commit(&state)
        } catch {
            log.error("the last close of an item could not commit it", metadata: ["errno": "\(error.rawValue)"])
        }
    }

    /// Drops an uncommitted value after the last close for writing.
    ///
    /// - Returns: The name of a dropped creation; nil otherwise.
    private func lastClose(_ state: inout ItemFile.State) -> EntryReference? {
        guard let stagedValue = state.stagedValue else { return nil }
        if state.adopted != nil, !state.isDetached { state.item = nil }
        state.adopted = nil
        // A file without a name remains for its readers, unless its value was abandoned.
        let isDropped = stagedValue.state.lastClose() == .drop
        if !state.isDetached || state.openCount == 0 || isDropped { state.stagedValue = nil }
        guard state.isPending, let item = state.item else { return nil }
        returnFreedName(state.freed)
        return dropPending(&state, item)
    }

    /// Removes a creation that was never committed.
    private func dropPending(_ state: inout ItemFile.State, _ item: Item) -> EntryReference? {
        let name = CanonicalName(account: item.account)
        state.directory.removePending(name, state.row)
        (state.isPending, state.isNeverCommitted) = (false, true)
        state.detachedValue = .lost
        state.freed = nil
        let row = state.row
        table.withLock { $0.detachItem(row) }
        return EntryName(name.bytes).map { EntryReference(parent: state.directory.node, name: $0) }
    }
}

extension ItemFile.State {
    mutating func closed(writer: Bool) {
        openCount -= 1
        if writer { writerCount -= 1 }
        if writerCount == 0 { (openValue, killedOwners) = (nil, [:]) }
    }

    /// Drops data that can be read again if the file is not open, because the kernel may know very many files.
    mutating func forgetUnused() {
        if isDetached, openCount == 0 { stagedValue = nil }
        guard openCount == 0, stagedValue == nil else { return }
        keptValue = nil
        if !isPending, !isDetached { (item, attributeCharge) = (nil, nil) }
    }
}
