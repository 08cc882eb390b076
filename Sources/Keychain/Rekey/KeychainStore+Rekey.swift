package import SecretCrypto

/// New class keys, and every item sealed anew under them, in the background and while the keychain is in use; then the old
/// keys go (contract, L5). What was interrupted goes on after the next unlock, whatever interrupted it.
extension KeychainStore {
    /// Items of one transaction, at most: whoever waits for the store waits for no more than that.
    static let rekeyPageSize = 16
    /// Bytes of contents of one transaction, from which on no further item is added to it.
    private static let rekeyPageBytes = 256 * 1024
    /// Milliseconds between two transactions.
    private static let rekeyPause = 2
    /// Passes over all items, at most; one is all it takes as a rule.
    private static let rekeyPasses = 4
    /// Milliseconds until the next attempt where the store takes no changes.
    private static let rekeyRetryPause = 30_000

    package var rekeyProgress: RekeyProgress { keys.rekeying.progress }

    /// Starts a rekey; ``rekeyInBackground(hasRoom:report:afterwards:)`` does the work.
    ///
    /// - Parameter userKey: opens a slot; called once it is clear that a rekey can be started.
    /// - Returns: key slots that nobody vouched for, damaged or forged: they are gone.
    /// - Throws: `readOnly`; `interactionNotAllowed` unless unlocked; `inUse` while there is one; what `userKey` throws;
    ///   what the store throws. Nothing is changed then.
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

    /// The life of a worker thread: does the rekeys that are started, or were under way; returns when the keychain is closed.
    ///
    /// - Parameters:
    ///   - hasRoom: whether so many bytes find room on the disk beside what everyone else needs.
    ///   - report: called when one has ended, or has to wait for another reason than before.
    ///   - afterwards: called then, too: metadata and contents have been through this thread.
    package func rekeyInBackground(
        hasRoom: (_ count: Int) -> Bool = { _ in true }, report: (RekeyProgress) -> Void, afterwards: () -> Void = {}
    ) {
        guard !isReadOnly else {
            return keys.rekeying.note { $0.phase = $0.phase == .idle ? .idle : .waiting(.readOnly) }
        }
        var reported: RekeyProgress.Phase?
        while keys.rekeying.begin() {
            do throws(KeychainFault) {
                try rekey(hasRoom: hasRoom)
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

    /// From wherever it is to its end.
    ///
    /// - Throws: `interactionNotAllowed` after a lock, and what the store throws; what was done stays done.
    func rekey(hasRoom: (Int) -> Bool = { _ in true }) throws(KeychainFault) {
        guard try keys.hasRekeyBegun() else {
            try keys.rekeyStateStore?.keep(rekeyGeneration: nil, of: keys.storeID)
            return keys.rekeying.cancel()
        }
        // Keys that a slot change replaces meanwhile are old ones too: then it goes on.
        while try !rekeyOnce(hasRoom: hasRoom) {}
    }

    /// From wherever it is to where nothing lies under the keys that are old now; false if keys have been renewed meanwhile.
    private func rekeyOnce(hasRoom: (Int) -> Bool) throws(KeychainFault) -> Bool {
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
            damaged = try resealAll(old, hasRoom)
            left = try keys.removeKeys(of: old)
            // What was sealed before the new keys were there can have been committed behind the pass.
            if left <= damaged { break }
        }
        return try endRekey(left: left, renewals)
    }

    /// Every item that lies under old keys and opens, once. Returns how many do not open.
    private func resealAll(_ old: Set<KeyGeneration>, _ hasRoom: (Int) -> Bool) throws(KeychainFault) -> Int {
        var after = RowID.none
        var damaged = 0
        while true {
            guard hasRoom(Self.rekeyPageBytes) else { throw .diskFull }
            guard let page = try rekeyPage(of: old, after: after) else { return damaged }
            keys.rekeying.note { $0.done += page.count }
            damaged += page.damaged
            after = page.last
            guard keys.rekeying.pause(milliseconds: Self.rekeyPause) else { throw .interactionNotAllowed }
        }
    }

    /// Seals the next items anew, in one transaction; nil if there are none behind `after`.
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

    /// The old keys are gone: with the log goes what of them is left in the store's files (contract, S8).
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

/// What became of an item in a rekey.
enum RekeyOutcome {
    /// Sealed anew; so many bytes of contents.
    case sealed(Int)
    /// Not what was written: it stays what it is, and who reads it is told.
    case damaged
    /// Under newer keys already, or gone.
    case other
}

extension Transaction {
    /// Seals an item anew under the newest keys of its class, contents and all; nothing that anybody sees of it changes, not
    /// even its version.
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
