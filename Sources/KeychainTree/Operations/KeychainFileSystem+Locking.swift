package import FileSystemCore
package import Keychain
package import SecretCrypto
import Synchronization
import SystemPackage

extension KeychainFileSystem {
    /// Locks: wipes keys and staged values, descriptors fail with ENOKEY, the kernel's caches become invalid (L2).
    ///
    /// Everything that can be read in memory is wiped first. Only then files are visited, some of which may be waiting for a
    /// disk. The lock is complete when the returned notifications have been sent.
    package func lock() -> [Notification] {
        keychain.lock()
        stagingKeys.revoke(.unlocked)
        for exchange in table.withLock({ $0.allExchanges() }) { exchange.discard() }
        freedNames.withLock { $0.removeAll() }
        listings.drop()
        return forgetUnavailable()
    }

    /// What cannot be opened any more leaves the tree, and the kernel is to forget what it knows of it.
    ///
    /// Done when the returned notifications have been sent.
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
            file.closings.add(1, ordering: .releasing)
            if let name { names.append(name) }
        }
        let nodes = table.withLock { table in
            table.emptyClosedHandles()
            return table.allItemNodes()
        }
        host.trimMemory()
        return [.allEntries(fallback: { [names] in names }), .inodes(nodes, pages: true), .wipeStacks]
    }

    /// Called after a rebuild of the indexes: names may now be found that were not found before, and one of two items or groups that
    /// shared a name has another one. The kernel forgets what it knows when the returned notifications have been sent.
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

    /// Unlocks with a passphrase; ``KeychainFault/authFailed`` if it opens no slot, and at the first unlock
    /// ``KeychainFault/rolledBack(kept:found:)`` unless that is accepted.
    package func unlock(
        passphrase: borrowing SecretBytes, acceptingRollback: Bool = false
    ) throws(KeychainFault) {
        try keychain.keys.unlock(passphrase: passphrase, acceptingRollback: acceptingRollback)
        readOpenFiles()
    }

    /// The same with a secret of any kind.
    package func unlock(
        with secret: borrowing UnlockSecret, acceptingRollback: Bool = false
    ) throws(KeychainFault) {
        try keychain.keys.unlock(with: secret, acceptingRollback: acceptingRollback)
        readOpenFiles()
    }

    /// After an unlock open files know their items again: Keychain Services may delete them at any time, and tell when that is
    /// done (F6). Names in the making become the files of items that came while locked, and could not be read then. Only of
    /// what is open: an unlock does not take longer with more items (S5).
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

    /// Whether the file is closed to those who have it open.
    private func forgetUnavailable(_ state: inout ItemFile.State) -> Bool {
        guard let item = state.item else {
            state.keptValue = nil
            let isLost = state.openCount > 0 && (try? keychain.item(id: state.row)) == nil
            if isLost { state.openValue = nil }
            return isLost
        }
        let isLocked = discardsAdopted(state, item)
        let isAvailable = state.protections(item).allSatisfy(keychain.keys.isAvailable) || goesOn(state, item)
        guard isLocked || !isAvailable else { return false }
        (state.keptValue, state.openValue, state.attributeCharge) = (nil, nil, nil)
        // A detached file has its value nowhere else: what was written to it is gone, committed or not.
        if state.hasUncommitted || state.isDetached { state.losses += 1 }
        (state.stagedValue, state.adopted) = (nil, nil)
        if state.isPending { _ = detachPending(&state) }
        state.item = nil
        if state.isDetached { discardValue(of: item, &state) }
        return true
    }

    /// Of an item that has come to a name in the making what is stored counts, too.
    private func discardsAdopted(_ state: borrowing ItemFile.State, _ item: Item) -> Bool {
        guard state.adopted != nil, !state.isDetached else { return false }
        guard let stored = try? keychain.protection(of: state.row) else { return true }
        if keychain.keys.isAvailable(stored) { return false }
        return stored == .whenUnlockedUnlessOpen ? !goesOn(state, item) : true
    }

    /// Of an item that a detached file alone has there stays what fstat(2) shows after the next unlock: no name, no value.
    private func discardValue(of item: Item, _ state: inout ItemFile.State) {
        state.detachedValue = .lost
        state.item = item.withoutAttributes
    }

    // MARK: Kernels that cannot be told to ask again for all names

    /// With a directory's name the kernel forgets all below it that nobody has open (`d_invalidate`).
    private static let topNames = ScopeDirectory.root.children.map { EntryReference(parent: .root, name: $0.name) }

    /// The name of a file that somebody has open, which has to be told by itself.
    private func openName(_ state: borrowing ItemFile.State) -> EntryReference? {
        guard state.openCount > 0, !state.isDetached, let item = state.item else { return nil }
        guard let name = EntryName(CanonicalName(account: item.account).bytes) else { return nil }
        return EntryReference(parent: state.directory.node, name: name)
    }
}
