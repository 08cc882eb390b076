import FileSystemCore
import Keychain
import Synchronization
import SystemPackage

/// WhenUnlockedUnlessOpen (contract, section 4): open items stay usable after a lock, and new items can be added while
/// locked. The item's row cannot be opened then, so its file retains the keys and values for reading and rewriting it.
extension KeychainFileSystem {
    /// Whether an unavailable item stays usable through its open descriptors.
    func staysUsable(_ state: borrowing ItemFile.State, _ item: Item) -> Bool {
        staysUsable(state, item, keychain.keys.isAvailable)
    }

    /// Whether an item of an unavailable class stays usable through its open descriptors.
    func staysUsable(
        _ state: borrowing ItemFile.State, _ item: Item, _ isAvailable: (ProtectionClass) -> Bool
    ) -> Bool {
        guard item.protection == .whenUnlockedUnlessOpen, state.openCount > 0 else { return false }
        return state.protections(item).allSatisfy { $0 == .whenUnlockedUnlessOpen || isAvailable($0) }
    }

    /// Whether an item is locked and nevertheless usable.
    func isUsedWhileLocked(_ state: borrowing ItemFile.State, _ item: Item) -> Bool {
        guard !keychain.keys.isAvailable(item.protection) else { return false }
        return staysUsable(state, item)
    }

    /// Retains the committed value beyond a lock, after an open or a commit. `value` is that value if the item cannot
    /// be opened any more.
    func keepValue(_ state: inout ItemFile.State, _ value: SealedSecret? = nil) {
        guard let item = state.item, staysUsable(state, item), !state.isPending, !state.isDetached else { return }
        if keychain.keys.isAvailable(item.protection), (try? committedSecret(&state)) != nil { return }
        if let value { return state.keptValue = .sealed(value) }
        guard let stagedValue = state.stagedValue, !stagedValue.state.isUncommitted else { return }
        // It has just been committed, and cannot be read again.
        state.keptValue = .staged(stagedValue.snapshot())
    }

    /// Marks the item for reading again after a change in the store. Cached data stays where a lock in the meantime
    /// must not wipe it.
    func readAgain(_ state: inout ItemFile.State) {
        guard let item = state.item, staysUsable(state, item) else { return state.forgetItem() }
        if let fresh = try? keychain.item(id: state.row) { show(fresh, &state) }
    }

    /// Changes the attributes of an item whose row cannot be opened: reseals it with the retained value.
    func saveLocked(_ item: Item, _ state: borrowing ItemFile.State) throws(Errno) -> Item {
        let value = state.keptValue
        return try mapped { () throws(KeychainFault) in
            try keychain.change { (transaction) throws(KeychainFault) in
                let item = try transaction.withStoredVersion(item)
                switch value {
                case .sealed(let secret): return try transaction.save(item, secret: secret)
                case .staged(let snapshot): return try transaction.save(item, secret: snapshot.contents)
                case nil:
                    guard item.secretCount == nil else { throw .interactionNotAllowed }
                    return try transaction.save(item)
                }
            }
        }
    }
}

/// The committed value of an open item, which a lock does not wipe.
enum KeptValue: Sendable {
    /// The value read from the store, with its own key.
    case sealed(SealedSecret)
    /// The value committed while locked.
    case staged(StagedSnapshot)
}

extension ProtectionClass {
    /// The availability whose key staged values are kept under. Staged values of WhenUnlockedUnlessOpen count as open,
    /// and survive a lock.
    var stagingAvailability: Availability {
        self == .whenUnlockedUnlessOpen ? .firstUnlock : availability
    }
}

extension Transaction {
    /// Returns a known item in the version of the store, because it may have been resealed since it was read.
    func withStoredVersion(_ item: Item) throws(KeychainFault) -> Item {
        guard let version = try version(of: item.id) else { throw .itemNotFound }
        var item = item
        item.version = version
        return item
    }
}
