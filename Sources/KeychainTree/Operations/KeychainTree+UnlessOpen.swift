import FileSystemCore
import Keychain
import Synchronization
import SystemPackage

/// WhenUnlockedUnlessOpen (contract, section 4): what is open goes on over a lock, and new items can be added while
/// locked. The item's row cannot be opened then; so its file keeps what it takes to read it and to write it anew.
extension KeychainTree {
    /// Whether an item that cannot be opened now is usable through the descriptors that have it open.
    func goesOn(_ state: borrowing ItemFile.State, _ item: Item) -> Bool {
        guard item.protection == .whenUnlockedUnlessOpen, state.openCount > 0 else { return false }
        return state.protections(item).allSatisfy {
            $0 == .whenUnlockedUnlessOpen || keychain.keys.isAvailable($0)
        }
    }

    /// Whether it is locked, and usable all the same.
    func goesOnLocked(_ state: borrowing ItemFile.State, _ item: Item) -> Bool {
        guard !keychain.keys.isAvailable(item.protection) else { return false }
        return goesOn(state, item)
    }

    /// A descriptor has been opened, or the last one that writes closed: keeps what a lock must not take away.
    func keepOpenSecret(_ state: inout ItemFile.State) {
        guard state.item?.protection == .whenUnlockedUnlessOpen, !state.isPending, !state.isDetached else { return }
        _ = try? committedSecret(&state)
    }

    /// Changes the attributes of an item whose row cannot be opened: seals it anew, with the value that is kept.
    func saveLocked(_ item: Item, _ state: borrowing ItemFile.State) throws(Errno) -> Item {
        let staging = state.staging
        let secret = state.openSecret
        return try mapped { () throws(KeychainError) in
            try keychain.change { (change) throws(KeychainError) in
                let item = try change.asStored(item)
                if let staging, !staging.state.isUncommitted {
                    staging.setModificationTime(item.file.modificationTime)
                    return try staging.save(item, in: change)
                }
                guard item.secretCount != nil else { return try change.save(item) }
                guard let secret else { throw .interactionNotAllowed }
                return try change.save(item, secret: secret)
            }
        }
    }
}

extension Protection {
    /// Whose staging key its values are kept under: what is staged of UnlessOpen is open, and goes on over a lock.
    var stagingAvailability: Availability {
        self == .whenUnlockedUnlessOpen ? .firstUnlock : availability
    }
}

extension Change {
    /// A known item in the version that the store has: it may have been sealed anew since it was read.
    func asStored(_ item: Item) throws(KeychainError) -> Item {
        guard let version = try version(of: item.id) else { throw .itemNotFound }
        var item = item
        item.version = version
        return item
    }
}
