package import FileSystemCore
package import Keychain
package import SecretCrypto
import Synchronization
import SystemPackage

extension KeychainFileSystem {
    /// Locks: wipes keys and staged values; descriptors fail with ENOKEY; the kernel's caches become invalid (L2).
    ///
    /// Waits for no disk. The lock is complete when the returned notifications have been sent.
    package func lock() -> [Notification] {
        keychain.lock()
        stagingKeys.revoke(.unlocked)
        for exchange in table.withLock({ $0.allExchanges() }) { exchange.discard() }
        freedNames.withLock { $0.removeAll() }
        // Another thread may have unlocked in the meantime. That does not bring back what this lock takes.
        return dropData(of: ProtectionClasses { $0.availability == .unlocked || !keychain.keys.isAvailable($0) })
    }

    /// Locks before the connection ends. The returned notifications wait for no item for which a disk works: pages of such an item
    /// stay in the kernel's cache.
    package func lockFinally() -> [Notification] {
        lock().filter { if case .later = $0 { false } else { true } }
    }

    /// Removes unavailable data from the tree, and from the kernel's caches when the returned notifications have been
    /// sent. Waits for no disk.
    package func forgetUnavailable() -> [Notification] {
        dropData(of: ProtectionClasses { !keychain.keys.isAvailable($0) })
    }

    private func dropData(of unavailable: ProtectionClasses) -> [Notification] {
        listings.drop()
        let (used, late) = applyToFiles(unavailable)
        let nodes = table.withLock { table in
            table.emptyClosedHandles()
            return table.allItemNodes()
        }
        host.trimMemory()
        let names = Self.topNames + takeClosedNames()
        // Files that are not in use have no pages. The kernel keeps a page locked while it is read, which may wait for the disk, so
        // pages of missed files may have to wait, too.
        return [
            .allEntries(fallback: { names }), .inodes(nodes, pages: false), .wipeStacks,
            .inodes(Self.nodes(of: used), pages: true), .later { [.inodes(Self.nodes(of: late), pages: true)] },
            .later { [self] in dropData(in: late) },
        ]
    }

    /// Applies a lock to all files. Returns those to which it has been applied, and those for which a thread must wait.
    private func applyToFiles(_ unavailable: ProtectionClasses) -> (used: [ItemFile], late: [ItemFile]) {
        var (used, late) = ([ItemFile](), [ItemFile]())
        for file in table.withLock({ $0.allItems() }) {
            switch apply(unavailable, to: file) {
            case .complete: used.append(file)
            case .missed(isAwaited: false): late.append(file)
            // The thread of an earlier lock waits for it, and drops its pages, too.
            case .missed(isAwaited: true): continue
            }
        }
        return (used, late)
    }

    private static func nodes(of files: [ItemFile]) -> NodeSet {
        var nodes = NodeSet()
        for file in files { nodes.insert(file.node) }
        return nodes
    }

    /// Waits for the files whose state another thread had during a lock, so that their data does not remain until they are used.
    /// Drops their pages again: an item whose class was being changed could be read until now.
    private func dropData(in late: [ItemFile]) -> [Notification] {
        for file in late { withState(of: file) { _ in } }
        table.withLock { $0.emptyClosedHandles() }
        host.trimMemory()
        let names = takeClosedNames()
        return [.allEntries(fallback: { names }), .inodes(Self.nodes(of: late), pages: true), .wipeStacks]
    }

    /// Applies a lock to a file, of which the calling thread has the state.
    func apply(_ unavailable: ProtectionClasses, to file: ItemFile, _ state: inout ItemFile.State) {
        let name = openName(state)
        guard dropData(of: unavailable, &state) else { return }
        file.lockClosures.add(1, ordering: .releasing)
        if let name { closedNames.withLock { $0.append(name) } }
    }

    private func takeClosedNames() -> [EntryReference] {
        closedNames.withLock { names in
            defer { names = [] }
            return names
        }
    }

    /// Called after wrong indexes were found: names may be found that were not found before, and, after a rebuild, one of two
    /// items or groups that shared a name has another one. The kernel's caches are invalid when the returned notifications have
    /// been sent.
    package func forgetNames() -> [Notification] {
        listings.drop()
        for file in table.withLock({ $0.allItems() }) { file.marks.noteStale() }
        names.withLock { _ in
            for row in table.withLock({ $0.groupRows() }) {
                guard case .group(let name)? = try? keychain.directory(id: row)?.key else { continue }
                table.withLock { $0.renameGroup(row, to: name) }
            }
        }
        return [.allEntries(fallback: { Self.topNames })]
    }

    /// Unlocks with a passphrase.
    ///
    /// - Throws: ``KeychainFault/authFailed`` if it opens no slot; at the first unlock
    ///   ``KeychainFault/rolledBack(kept:found:)`` unless that is accepted.
    package func unlock(
        passphrase: borrowing SecretBytes, acceptingRollback: Bool = false
    ) throws(KeychainFault) {
        try keychain.keys.unlock(passphrase: passphrase, acceptingRollback: acceptingRollback)
        readOpenFiles()
    }

    /// Unlocks with a secret of any type.
    package func unlock(
        with secret: borrowing UnlockSecret, acceptingRollback: Bool = false
    ) throws(KeychainFault) {
        try keychain.keys.unlock(with: secret, acceptingRollback: acceptingRollback)
        readOpenFiles()
    }

    /// Reads the items of open files again after an unlock, because Keychain Services may delete them at any time, and
    /// notify afterwards (F6). Pending names become the files of items that were added while locked. Only for open
    /// files, so that the duration does not depend on the number of items (S5).
    private func readOpenFiles() {
        names.withLock { _ in
            for file in table.withLock({ $0.openItems() }) { withState(of: file) { readIfOpen(&$0) } }
        }
    }

    private func readIfOpen(_ state: inout ItemFile.State) {
        guard state.openCount > 0, !state.isDetached, !adoptTaken(&state), !state.isPending else { return }
        _ = try? item(of: &state)
        keepOpenValue(&state)
    }

    /// Returns whether the file is closed for its descriptors. Reads nothing from the store, which may wait for a disk.
    private func dropData(of unavailable: ProtectionClasses, _ state: inout ItemFile.State) -> Bool {
        guard let item = state.item else {
            state.keptValue = nil
            let isLost = state.openCount > 0 && state.storedProtection.map(unavailable.contains) ?? true
            if isLost { state.openValue = nil }
            return isLost
        }
        let isAvailable = { @Sendable in !unavailable.contains($0) }
        let isLost = discardsAdopted(state, item, isAvailable)
        let isUsable = state.protections(item).allSatisfy(isAvailable) || staysUsable(state, item, isAvailable)
        guard isLost || !isUsable else { return false }
        (state.keptValue, state.openValue, state.attributeCharge) = (nil, nil, nil)
        // The value of a detached file exists only there, so data written to it is lost, committed or not.
        if state.hasUncommitted || state.isDetached { state.discards += 1 }
        (state.stagedValue, state.adopted) = (nil, nil)
        if state.isPending { _ = detachPending(&state) }
        state.item = nil
        if state.isDetached { discardValue(of: item, &state) }
        return true
    }

    /// For an item that has got a pending name, the stored class counts, too.
    private func discardsAdopted(
        _ state: borrowing ItemFile.State, _ item: Item, _ isAvailable: (ProtectionClass) -> Bool
    ) -> Bool {
        guard state.adopted != nil, !state.isDetached else { return false }
        guard let stored = state.storedProtection else { return true }
        if isAvailable(stored) { return false }
        return stored == .whenUnlockedUnlessOpen ? !staysUsable(state, item, isAvailable) : true
    }

    /// Reduces the item of a detached file to the attributes that fstat(2) shows after the next unlock: no name, no
    /// value.
    private func discardValue(of item: Item, _ state: inout ItemFile.State) {
        state.detachedValue = .lost
        state.item = item.withoutAttributes
    }

    // MARK: Kernels without a notification that invalidates all names

    /// The top names: with a directory's name, the kernel invalidates all names below it that are not in use (`d_invalidate`).
    private static let topNames = ScopeDirectory.root.children.map { EntryReference(parent: .root, name: $0.name) }

    /// Returns the name of an open file, which needs its own notification.
    private func openName(_ state: borrowing ItemFile.State) -> EntryReference? {
        guard state.openCount > 0, !state.isDetached, let item = state.item else { return nil }
        guard let name = EntryName(CanonicalName(account: item.account).bytes) else { return nil }
        return EntryReference(parent: state.directory.node, name: name)
    }
}
