package import SecretCrypto

/// Rotates the class keys and reseals every item in the background, while the keychain is in use, and then removes the
/// old keys (contract, L5). An interrupted rekey continues after the next unlock.
extension KeychainStore {
    /// The maximum number of items of a transaction, for which other users of the store wait.
    static let rekeyPageSize = 16
    /// The number of bytes of secrets after which no further item is added to a transaction.
    private static let rekeyPageBytes = 256 * 1024
    /// The pause between two transactions in milliseconds.
    private static let rekeyPause = 2
    /// The maximum number of scans of all items; usually one suffices.
    private static let rekeyPasses = 4
    /// The delay in milliseconds before a retry if the store refuses changes.
    private static let rekeyRetryPause = 30_000

    package var rekeyProgress: RekeyProgress { keys.rekeying.progress }

    /// Starts a rekey, which ``rekeyInBackground(hasSpace:report:afterwards:)`` executes.
    ///
    /// - Parameter userKey: Opens a slot; called after all other conditions have been checked.
    /// - Returns: The key slots that were removed because their records are damaged or forged.
    /// - Throws: `readOnly`; `interactionNotAllowed` unless unlocked; `inUse` during a rekey; the errors of `userKey`
    ///   and of the store. Nothing is changed then.
    @discardableResult
    package func startRekey(
        userKey: () throws(KeychainFault) -> SecretBytes
    ) throws(KeychainFault) -> [Int64] {
        guard !isReadOnly else { throw .readOnly }
        guard keys.state == .unlocked else { throw .interactionNotAllowed }
        guard keys.rekeying.reserve() else { throw .inUse(processID: 0) }
        do throws(KeychainFault) {
            let lostSlots = try keys.startRekey(userKey: userKey())
            keys.rekeying.started(true)
            return lostSlots
        } catch {
            keys.rekeying.started(false)
            throw error
        }
    }

    /// The main function of a worker thread, which executes rekeys that are started or were interrupted. Returns when
    /// the keychain is closed.
    ///
    /// - Parameters:
    ///   - hasSpace: Whether the disk has space for that number of bytes, in addition to other needs.
    ///   - report: Called when a rekey has ended, or waits for another reason than before.
    ///   - afterwards: Called at the same times, for wiping this thread's stack, which has contained metadata and
    ///     secrets.
    package func rekeyInBackground(
        hasSpace: (_ count: Int) -> Bool = { _ in true }, report: (RekeyProgress) -> Void, afterwards: () -> Void = {}
    ) {
        guard !isReadOnly else {
            return keys.rekeying.note { $0.phase = $0.phase == .idle ? .idle : .waiting(.readOnly) }
        }
        var reported: RekeyProgress.Phase?
        while keys.rekeying.begin() {
            do throws(KeychainFault) {
                try rekey(hasSpace: hasSpace)
            } catch {
                keys.rekeying.note { $0.phase = .waiting(error) }
            }
            let progress = rekeyProgress
            if progress.phase != reported { report(progress) }
            afterwards()
            reported = progress.phase
            guard case .waiting = progress.phase else { continue }
            keys.rekeying.pauseAfterFailure(milliseconds: Self.rekeyRetryPause)
        }
    }

    /// Continues the rekey until it is complete.
    ///
    /// - Throws: `interactionNotAllowed` after a lock; the errors of the store. The progress is kept.
    func rekey(hasSpace: (Int) -> Bool = { _ in true }) throws(KeychainFault) {
        guard try keys.hasRekeyBegun() else {
            try keys.rekeyStateStore?.keep(rekeyGeneration: nil, of: keys.storeID)
            return keys.rekeying.cancel()
        }
        // A slot change may rotate the keys in the meantime; the rekey then continues with newer ones.
        while try !rekeyOnce(hasSpace: hasSpace) {}
    }

    /// Reseals all items under the present old keys. Returns false if the keys have been rotated in the meantime.
    private func rekeyOnce(hasSpace: (Int) -> Bool) throws(KeychainFault) -> Bool {
        let renewals = keys.rekeying.renewals
        let old = try keys.oldGenerations()
        let total = try store.read { (reader) throws(KeychainFault) in
            try reader.itemCounts(of: old).values.reduce(0, +)
        }
        keys.rekeying.note { progress in
            progress = RekeyProgress()
            (progress.phase, progress.total) = (.running, total)
        }
        var (left, damaged) = (0, 0)
        for _ in 0..<Self.rekeyPasses {
            damaged = try resealAll(old, hasSpace)
            left = try keys.removeKeys(of: old)
            // An item that was sealed before the rotation may have been committed after the scan had passed it.
            if left <= damaged { break }
        }
        return try endRekey(left: left, renewals)
    }

    /// Reseals every item under old keys that can be opened, once. Returns the number of items that cannot be opened.
    private func resealAll(_ old: Set<KeyGeneration>, _ hasSpace: (Int) -> Bool) throws(KeychainFault) -> Int {
        var after = RowID.none
        var damaged = 0
        while true {
            guard hasSpace(Self.rekeyPageBytes) else { throw .diskFull }
            guard let page = try rekeyPage(of: old, after: after) else { return damaged }
            keys.rekeying.note { $0.done += page.count }
            damaged += page.damaged
            after = page.last
            guard keys.rekeying.pause(milliseconds: Self.rekeyPause) else { throw .interactionNotAllowed }
        }
    }

    /// Reseals the next items in one transaction. Returns nil if no item follows `after`.
    func rekeyPage(
        of old: Set<KeyGeneration>, after: RowID
    ) throws(KeychainFault) -> (last: RowID, count: Int, damaged: Int)? {
        let ids = try store.read { (reader) throws(KeychainFault) in
            try reader.itemIDs(of: old, after: after, limit: Self.rekeyPageSize)
        }
        guard !ids.isEmpty else { return nil }
        return try change { (transaction) throws(KeychainFault) in
            var page = (last: after, count: 0, damaged: 0)
            var bytes = 0
            for id in ids where bytes < Self.rekeyPageBytes {
                switch try transaction.rekey(id, from: old) {
                case .sealed(let count): (page.count, bytes) = (page.count + 1, bytes + count)
                case .damaged: page.damaged += 1
                case .other: break
                }
                page.last = id
            }
            return page
        }
    }

    /// Removes the old keys, and their remains in the log (contract, S8).
    private func endRekey(left: Int, _ renewals: Int) throws(KeychainFault) -> Bool {
        guard keys.rekeying.renewals == renewals else { return false }
        cache.dropAll()
        do throws(KeychainFault) {
            try store.truncateLog()
        } catch {
            store.eraseLogSoon()
        }
        let begun = keys.rekeyStateStore?.rekeyGeneration(of: keys.storeID)
        try keys.rekeyStateStore?.keep(rekeyGeneration: nil, of: keys.storeID)
        keys.rekeying.note { $0.left = left }
        if keys.rekeying.finished(since: renewals) { return true }
        try keys.rekeyStateStore?.keep(rekeyGeneration: begun, of: keys.storeID)
        return false
    }
}

/// The outcome of a rekey for one item.
enum RekeyOutcome {
    /// Resealed; contains the number of bytes of its secret.
    case sealed(Int)
    /// The item is not authentic. It stays unchanged, so that reading it reports the damage.
    case damaged
    /// Under newer keys already, or deleted.
    case other
}

extension Transaction {
    /// Reseals an item with its secret under the newest keys of its class. No visible property changes, not even its
    /// version.
    func rekey(_ id: RowID, from old: Set<KeyGeneration>) throws(KeychainFault) -> RekeyOutcome {
        do throws(KeychainFault) {
            guard let (record, ciphertext) = try writer.itemWithSecret(id: id),
                old.contains(KeyGeneration(record.protection, record.generation))
            else { return .other }
            guard record.ephemeral == nil else { return try rewrap(id) ? .sealed(ciphertext.count) : .damaged }
            let sealed = try keychain.itemEnvelope.renew(record, ciphertext: ciphertext)
            try writer.put(sealed.record, secret: sealed.secret)
            return .sealed(ciphertext.count)
        } catch .decode {
            return .damaged
        }
    }
}
