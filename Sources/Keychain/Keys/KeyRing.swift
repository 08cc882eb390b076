package import SecretCrypto
import Synchronization

/// The keys of one store and its lock state (contract, sections 4 and 5, S3).
///
/// One mutex guards state and tables; it is never held while a key is used, derived or revoked, or the store is
/// called. Keys themselves are shared objects that a lock takes away from under their users.
package final class KeyRing: Sendable {
    struct State {
        var lock = LockState.beforeFirstUnlock
        /// How often it was locked: an unlock that began before the last one comes too late.
        var lockCount = 0
        var isClosed = false
        var table: KeyTable
        /// From the first unlock on.
        var master: MasterKeys?
        var retired = RetiredKeys()
    }

    let store: any RecordStore
    /// Needed again at each unlock; wiped by ``close()``.
    let device: RevocableSecret
    let deviceTag: [UInt8]
    let current: Mutex<State>
    /// Held while a lock takes keys away and while new ones are installed: an unlock that comes during a lock must not go on
    /// with keys that are about to be wiped. Taken before every other lock here.
    let transition = Mutex<Void>(())
    /// Through it goes every change of the store.
    let ledger = DigestLedger()
    let verification: Verification
    let rewrapping = Rewrapping()
    let rekeying: Rekeying
    let rekeyStateStore: (any RekeyStateStore)?
    /// 16 bytes, part of every record's associated data.
    package let storeID: [UInt8]
    /// Whether the store had a record of this device when it was opened: else it is new to it, or has lost its key.
    package let isDeviceKnown: Bool
    /// Who keeps commit numbers outside the store; nil for a store that may be older than what was seen: a backup.
    let commitNumberStore: (any CommitNumberStore)?
    let numbers = Mutex(CommitNumberState())
    /// Held while a commit number is written: an older number must not replace a newer one.
    let numberWriting = Mutex<Void>(())
    let watchers = Mutex<[@Sendable (LockState) -> Void]>([])

    /// Opens a store's keys as far as the device key goes: Always, AlwaysThisDeviceOnly, Always look-up.
    ///
    /// - Parameters:
    ///   - device: 32 bytes, else `param`.
    ///   - commitNumberStore: who tells an older copy of the store from the newest.
    ///   - rekeyStateStore: who knows after a crash that a rekey was under way.
    /// - Throws: `unknownFormat`, `decode`, `allocate`, and what the store throws. Damaged class keys are no error:
    ///   what they seal is.
    package init(
        store: any RecordStore, device: consuming SecretBytes, commitNumberStore: (any CommitNumberStore)? = nil,
        rekeyStateStore: (any RekeyStateStore)? = nil
    ) throws(KeychainFault) {
        guard device.count == DeviceKey.byteCount else { throw .param }
        let records = try store.read { (reader) throws(KeychainFault) in try KeySnapshot(reader) }
        let storeID = records.store.identifier
        let deviceKey = RevocableSecret(device)
        deviceTag = try deviceKey.using { (key) throws(CryptoError) in try DeviceKey.tag(key, store: storeID) }
        let keys = try deviceKey.using { (key) throws(CryptoError) in
            try WrappingKeys(device: key, store: storeID)
        }
        self.store = store
        verification = Verification(of: ledger.indexes)
        self.device = deviceKey
        self.storeID = storeID
        self.commitNumberStore = commitNumberStore
        self.rekeyStateStore = rekeyStateStore
        rekeying = Rekeying(isWanted: rekeyStateStore?.rekeyGeneration(of: storeID) != nil)
        isDeviceKnown = records.device(tag: deviceTag) != nil
        current = Mutex(State(table: try records.table(tag: deviceTag, keys: keys)))
    }

    package var state: LockState { current.withLock { $0.lock } }

    /// Wipes the keys of every class that is usable only while unlocked; UnlessOpen keeps its public key.
    ///
    /// Returns when all users of these keys are done and the keys are wiped, also after a concurrent lock. Waits for no disk:
    /// the log is erased soon after by its own thread. The caller, or a watcher of the state, calls ``keepCommitNumber()`` afterwards.
    package func lock() {
        transition.withLock { _ in
            let (keys, retired) = current.withLock { state in
                state.lock = state.lock.locking
                state.lockCount += 1
                return (state.table.opened { $0 == .unlocked }, state.retired.inUse { $0.availability == .unlocked })
            }
            verification.locked()
            rewrapping.locked()
            rekeying.locked()
            for key in keys { key.revoke() }
            for secret in retired { secret.revoke() }
            notifyObservers()
        }
        store.eraseLogSoon()
    }

    /// Wipes all keys for good; returns when their users are done. The store is still open then.
    package func close() {
        try? keepCommitNumber()
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
