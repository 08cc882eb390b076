import FileSystemCore
import Keychain
import Synchronization
import SystemPackage

/// WhenUnlockedUnlessOpen (contract, section 4): what is open goes on over a lock, and new items can be added while
/// locked. The item's row cannot be opened then; so its file keeps what it takes to read it and to write it anew.
extension KeychainFileSystem {
    /// Whether an item that cannot be opened now is usable through the descriptors that have it open.
    func goesOn(_ state: borrowing ItemFile.State, _ item: Item) -> Bool {
        guard item.protection == .whenUnlockedUnlessOpen, state.openCount > 0 else { return false }
        return state.protections(item).allSatisfy {
            $0 == .whenUnlockedUnlessOpen || keychain.keys.isAvailable($0)
        }
    }

    /// Whether it is locked, and usable all the same.
    func isUsedWhileLocked(_ state: borrowing ItemFile.State, _ item: Item) -> Bool {
        guard !keychain.keys.isAvailable(item.protection) else { return false }
        return goesOn(state, item)
    }

    /// A descriptor has been opened, or something committed: keeps the committed value beyond a lock. `value` is that, if the
    /// item cannot be opened any more.
    func keepValue(_ state: inout ItemFile.State, _ value: SealedSecret? = nil) {
        guard let item = state.item, goesOn(state, item), !state.isPending, !state.isDetached else { return }
        if keychain.keys.isAvailable(item.protection), (try? committedSecret(&state)) != nil { return }
        if let value { return state.keptValue = .sealed(value) }
        guard let stagedValue = state.stagedValue, !stagedValue.state.isUncommitted else { return }
        // It has just been committed, and cannot be read again.
        state.keptValue = .staged(stagedValue.snapshot())
    }

    /// The item has been changed in the store; what is known of it stays where a lock that comes now must not take it.
    func readAgain(_ state: inout ItemFile.State) {
        guard let item = state.item, goesOn(state, item) else { return state.item = nil }
        if let fresh = try? keychain.item(id: state.row) { state.item = shown(fresh, state) }
    }

    /// Changes the attributes of an item whose row cannot be opened: seals it anew, with the value that is kept.
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

/// The committed value of an open item, which a lock does not take away.
enum KeptValue: Sendable {
    /// As it was read from the store, with a key of its own.
    case sealed(SealedSecret)
    /// As it was committed while locked.
    case staged(StagedSnapshot)
}

extension ProtectionClass {
    /// Whose staging key its values are kept under: what is staged of UnlessOpen is open, and goes on over a lock.
    var stagingAvailability: Availability {
        self == .whenUnlockedUnlessOpen ? .firstUnlock : availability
    }
}

extension Transaction {
    /// A known item in the version that the store has: it may have been sealed anew since it was read.
    func withStoredVersion(_ item: Item) throws(KeychainFault) -> Item {
        guard let version = try version(of: item.id) else { throw .itemNotFound }
        var item = item
        item.version = version
        return item
    }
}
