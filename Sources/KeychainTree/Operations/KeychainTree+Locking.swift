package import FileSystemCore
package import Keychain
package import SecretCrypto
import Synchronization
import SystemPackage

extension KeychainTree {
    /// Locks: keys and staged values wiped, descriptors answer ENOKEY, the kernel is to forget what it knows (L2).
    ///
    /// Done when the returned notifications have been sent.
    package func lock() -> [Notification] {
        keychain.lock()
        listings.drop()
        stagingKeys.revoke(.unlocked)
        for exchange in table.withLock({ $0.allExchanges() }) { exchange.lose() }
        freedNames.withLock { $0.removeAll() }
        return forgetUnavailable()
    }

    /// What cannot be opened any more leaves the tree, and the kernel is to forget what it knows of it.
    ///
    /// Done when the returned notifications have been sent.
    package func forgetUnavailable() -> [Notification] {
        listings.drop()
        let files = table.withLock { $0.allItems() }
        for file in files where file.state.withLock({ forgetUnavailable(&$0) }) {
            file.closings.add(1, ordering: .releasing)
        }
        let inodes = table.withLock { $0.allItemNodes() }.map { Notification.inode($0, pages: true) }
        return [.allEntries(fallback: { [self] in namesHandedOut() })] + inodes + [.finishedCalls]
    }

    /// Unlocks with a passphrase; ``KeychainError/authFailed`` if it opens no slot, and at the first unlock
    /// ``KeychainError/rolledBack(kept:found:)`` unless that is accepted.
    package func unlock(
        passphrase: borrowing SecretBytes, acceptingRollback: Bool = false
    ) throws(KeychainError) {
        try keychain.keys.unlock(passphrase: passphrase, acceptingRollback: acceptingRollback)
        readOpenFiles()
    }

    /// The same with a secret of any kind.
    package func unlock(
        with secret: borrowing UnlockSecret, acceptingRollback: Bool = false
    ) throws(KeychainError) {
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
            return state.openCount > 0 && (try? keychain.item(id: state.row)) == nil
        }
        let isLocked = losesAdopted(state, item)
        let isAvailable = state.protections(item).allSatisfy(keychain.keys.isAvailable) || goesOn(state, item)
        guard isLocked || !isAvailable else { return false }
        state.keptValue = nil
        // A detached file has its value nowhere else: what was written to it is gone, committed or not.
        if state.hasUncommitted || state.isDetached { state.losses += 1 }
        (state.staging, state.adopted) = (nil, nil)
        if state.isPending { _ = detachPending(&state) }
        state.item = nil
        if state.isDetached { loseValue(of: item, &state) }
        return true
    }

    /// Of an item that has come to a name in the making what is stored counts, too.
    private func losesAdopted(_ state: borrowing ItemFile.State, _ item: Item) -> Bool {
        guard state.adopted != nil, !state.isDetached else { return false }
        guard let stored = try? keychain.protection(of: state.row) else { return true }
        if keychain.keys.isAvailable(stored) { return false }
        return stored == .whenUnlockedUnlessOpen ? !goesOn(state, item) : true
    }

    /// Of an item that a detached file alone has there stays what fstat(2) shows after the next unlock: no name, no value.
    private func loseValue(of item: Item, _ state: inout ItemFile.State) {
        state.detachedValue = .lost
        state.item = item.withoutAttributes
    }

    /// Every name that the kernel may remember: for kernels that cannot be told to ask again for all.
    private func namesHandedOut() -> [EntryReference] {
        table.withLock { $0.allItems() }.compactMap { file in
            file.state.withLock { state in
                state.item.flatMap { EntryName(CanonicalName(account: $0.account).bytes) }
                    .map { EntryReference(parent: state.directory.node, name: $0) }
            }
        }
    }
}
