package import FileSystemCore
package import Keychain
package import SecretCrypto
import Synchronization
import SystemPackage

extension KeychainFileSystem {
    /// Locks: wipes keys and staged values; descriptors fail with ENOKEY; the kernel's caches become invalid (L2).
    ///
    /// All data that is readable in memory is wiped first. Files are visited afterwards, because some of them may be
    /// waiting for a disk. The lock is complete when the returned notifications have been sent.
    package func lock() -> [Notification] {
        keychain.lock()
        stagingKeys.revoke(.unlocked)
        for exchange in table.withLock({ $0.allExchanges() }) { exchange.discard() }
        freedNames.withLock { $0.removeAll() }
        listings.drop()
        return forgetUnavailable()
    }

    /// Removes unavailable data from the tree, and from the kernel's caches when the returned notifications have been
    /// sent.
    package func forgetUnavailable() -> [Notification] {
        listings.drop()
        let files = table.withLock { $0.allItems() }
        var names = Self.topNames
        for file in files {
            let (isLost, name) = file.state.withLock { state in
                let name = openName(state)
                return (forgetUnavailable(&state), name)
            }
            guard isLost else { continue }
            file.lockClosures.add(1, ordering: .releasing)
            if let name { names.append(name) }
        }
        let nodes = table.withLock { table in
            table.emptyClosedHandles()
            return table.allItemNodes()
        }
        host.trimMemory()
        return [.allEntries(fallback: { [names] in names }), .inodes(nodes, pages: true), .wipeStacks]
    }

    /// Called after wrong indexes were found: names may be found that were not found before, and, after a rebuild, one of two
    /// items or groups that shared a name has another one. The kernel's caches are invalid when the returned notifications have
    /// been sent.
    package func forgetNames() -> [Notification] {
        listings.drop()
        for file in table.withLock({ $0.allItems() }) { file.staleness.note() }
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
            for file in table.withLock({ $0.openItems() }) { file.state.withLock { readIfOpen(&$0) } }
        }
    }

    private func readIfOpen(_ state: inout ItemFile.State) {
        guard state.openCount > 0, !state.isDetached, !adoptTaken(&state), !state.isPending else { return }
        _ = try? item(of: &state)
        keepOpenValue(&state)
    }

    /// Returns whether the file is closed for its descriptors.
    private func forgetUnavailable(_ state: inout ItemFile.State) -> Bool {
        guard let item = state.item else {
            state.keptValue = nil
            let isLost = state.openCount > 0 && (try? keychain.item(id: state.row)) == nil
            if isLost { state.openValue = nil }
            return isLost
        }
        let isLocked = discardsAdopted(state, item)
        let isAvailable = state.protections(item).allSatisfy(keychain.keys.isAvailable) || staysUsable(state, item)
        guard isLocked || !isAvailable else { return false }
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
    private func discardsAdopted(_ state: borrowing ItemFile.State, _ item: Item) -> Bool {
        guard state.adopted != nil, !state.isDetached else { return false }
        guard let stored = try? keychain.protection(of: state.row) else { return true }
        if keychain.keys.isAvailable(stored) { return false }
        return stored == .whenUnlockedUnlessOpen ? !staysUsable(state, item) : true
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
