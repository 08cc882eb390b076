package import SecretCrypto
import Synchronization

/// The keys of one store and its lock state (contract, sections 4 and 5, S3).
///
/// One mutex protects state and tables. It is never locked while a key is used, derived or revoked, or the store is
/// called. Keys are shared objects that a lock revokes while threads use them.
package final class KeyRing: Sendable {
    struct State {
        var lock = LockState.beforeFirstUnlock
        /// The number of locks. An unlock that began before the last lock is discarded.
        var lockCount = 0
        var isClosed = false
        var table: KeyTable
        /// The keys of the store itself, from the first unlock on.
        var master: MasterKeySets?
        var retired = RetiredKeys()

        /// Replaces the master keys. Returns the sealing key for the caller to revoke: the former key, or while locked the
        /// new key.
        mutating func replace(_ new: MasterKeySets) -> RevocableSecret? {
            let former = master
            master = former.map(new.keeping) ?? new
            return lock == .unlocked ? former?.sealing : new.sealing
        }
    }

    let store: any RecordStore
    /// Whether a newer program has used a feature that this one must know to change the store. It is only read then.
    package let lacksWriterFeature: Bool
    /// The device key, needed again at each unlock. Wiped by ``close()``.
    let device: RevocableSecret
    let deviceTag: [UInt8]
    let current: Mutex<State>
    /// Locked while a lock revokes keys and while new keys are installed, because an unlock during a lock must not
    /// continue with keys that are about to be wiped. Locked before all other mutexes here.
    let transition = Mutex<Void>(())
    /// The ledger, through which every change of the store passes.
    let ledger = DigestLedger()
    let verification: Verification
    let rewrapping = Rewrapping()
    let rekeying: Rekeying
    /// The store's ID of 16 bytes, part of all associated data.
    package let storeID: [UInt8]
    /// Whether an unlock accepts damaged rows of keys and a damaged header, to find what is intact.
    let isExamination: Bool
    /// Whether the store had a record of this device when it was opened. Otherwise the device is new to it, or has lost
    /// its key.
    package let isDeviceKnown: Bool
    /// The store of commit numbers outside of this store; nil for a store that may be older than the seen state, such
    /// as a backup.
    let commitNumberStore: (any CommitNumberStore)?
    let numbers = Mutex(CommitNumberState())
    /// Locked while a commit number is written, because an older number must not replace a newer one.
    let numberWriting = Mutex<Void>(())
    let watchers = Mutex<[@Sendable (LockState) -> Void]>([])

    /// Opens the keys of a store that only need the device key: Always, AlwaysThisDeviceOnly, Always lookup.
    ///
    /// - Parameters:
    ///   - device: The device key of 32 bytes; otherwise `param`.
    ///   - commitNumberStore: Distinguishes an older copy of the store from the newest.
    ///   - isExamination: Whether an unlock accepts damaged rows of keys and a damaged header. Such a store must not be
    ///     changed.
    /// - Throws: `unknownFormat`, `unknownFeature`, `decode`, `allocate`; the errors of the store. Damaged class keys are not an error;
    ///   the items that they seal fail.
    package init(
        store: any RecordStore, device: consuming SecretBytes, commitNumberStore: (any CommitNumberStore)? = nil,
        isExamination: Bool = false
    ) throws(KeychainFault) {
        guard device.count == DeviceKey.byteCount else { throw .param }
        let records = try store.read { (reader) throws(KeychainFault) in try KeySnapshot(reader) }
        guard records.store.readerMask & ~StoreRecord.knownReaderMask == 0 else { throw .unknownFeature }
        let storeID = records.store.identifier
        let deviceKey = RevocableSecret(device)
        deviceTag = try deviceKey.using { (key) throws(CryptoError) in try DeviceKey.tag(key, store: storeID) }
        let keys = try deviceKey.using { (key) throws(CryptoError) in
            try WrappingKeys(device: key, store: storeID)
        }
        lacksWriterFeature = records.store.writerMask & ~StoreRecord.knownWriterMask != 0
        self.store = lacksWriterFeature ? ReadOnlyRecordStore(store) : store
        verification = Verification(of: ledger.indexes)
        self.device = deviceKey
        self.storeID = storeID
        self.commitNumberStore = commitNumberStore
        self.isExamination = isExamination
        rekeying = Rekeying(isWanted: records.store.masterKeys.ciphertext.count > MasterKeys.byteCount)
        isDeviceKnown = records.device(tag: deviceTag) != nil
        current = Mutex(State(table: try records.table(tag: deviceTag, keys: keys)))
    }

    package var state: LockState { current.withLock { $0.lock } }

    /// Locks: wipes the keys of every class that is usable only while unlocked. WhenUnlockedUnlessOpen keeps its public
    /// key.
    ///
    /// Returns when no thread uses these keys and they are wiped, even after a concurrent lock. Waits for no disk: the
    /// log is erased soon after by its own thread. The caller, or an observer of the state, calls
    /// ``keepCommitNumber()`` afterwards.
    package func lock() {
        transition.withLock { _ in
            let (keys, secrets) = current.withLock { state in
                state.lock = state.lock.locking
                state.lockCount += 1
                let secrets = state.retired.inUse { $0.availability == .unlocked }
                return (state.table.opened { $0 == .unlocked }, secrets + [state.master?.sealing].compactMap(\.self))
            }
            verification.locked()
            rewrapping.locked()
            rekeying.locked()
            for key in keys { key.revoke() }
            for secret in secrets { secret.revoke() }
            notifyObservers()
        }
        store.eraseLogSoon()
    }

    /// Wipes all keys permanently. Returns when no thread uses them. The store is still open then.
    package func close() {
        try? keepCommitNumber(isEnd: true)
        wipe()
    }

    /// Wipes all keys permanently without storing the commit number, which may wait for a disk.
    package func wipe() {
        let (keys, retired, master) = current.withLock { state in
            state.lock = state.lock.locking
            state.isClosed = true
            return (state.table.opened { _ in true }, state.retired.inUse { _ in true }, state.master)
        }
        verification.close()
        rewrapping.close()
        rekeying.close()
        for key in keys { key.revoke() }
        for secret in retired { secret.revoke() }
        master?.revoke()
        ledger.close()
        device.revoke()
    }
}
