package import SecretCrypto

/// Rotates all keys and reseals every item, directory and past value in the background, while the keychain is in use, and then removes
/// the old keys (contract, L5). Until then the store has several sets of master keys. An interrupted rekey continues after
/// the next unlock.
extension KeychainStore {
    /// The maximum number of items of a transaction, for which other users of the store wait.
    static let rekeyPageSize = 16
    /// The number of bytes of secrets after which no further item is added to a transaction.
    private static let rekeyPageBytes = 256 * 1024
    /// The pause between two transactions in milliseconds.
    private static let rekeyPause = 2
    /// The maximum number of scans of all rows; usually one suffices.
    private static let rekeyPasses = 4
    /// The delay in milliseconds before a retry if the store refuses changes.
    private static let rekeyRetryPause = 30_000

    package var rekeyProgress: RekeyProgress { keys.rekeying.progress }

    /// Starts a rekey, which ``rekeyInBackground(hasSpace:report:afterwards:)`` executes; or continues one that waits because
    /// rows differ from the committed ones.
    ///
    /// - Parameters:
    ///   - acceptingDifferences: Whether rows may be resealed that differ from the committed ones, until a lock or a change by
    ///     another program.
    ///   - userKey: Opens a slot; called after the conditions above have been checked.
    /// - Throws: `readOnly`; `interactionNotAllowed` unless unlocked; `inUse` during a rekey of this device; the errors
    ///   of `userKey` and of the store. Nothing is changed then.
    @discardableResult
    package func startRekey(
        acceptingDifferences: Bool = false, userKey: () throws(KeychainFault) -> SecretBytes
    ) throws(KeychainFault) -> RekeyStart {
        guard !isReadOnly else { throw .readOnly }
        guard keys.state == .unlocked else { throw .interactionNotAllowed }
        guard let reservation = keys.rekeying.reserve() else { throw .inUse(processID: 0) }
        var isStarted = false
        defer { keys.rekeying.started(isStarted) }
        let userKey = try userKey()
        if acceptingDifferences {
            keys.rekeying.acceptDifferences()
        } else if try verifiedIntegrity() != .verified {
            return .differs
        }
        let lostSlots = reservation == .newRekey ? try keys.renewKeys(userKey: userKey, extent: .rekey) : []
        isStarted = true
        return .started(lostSlots: lostSlots)
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
                // Another program has changed the store, and the result of the verification decides.
                let isUndecided = error == .rowsDiffer && keys.verification.isUnderWay
                keys.rekeying.note { $0.phase = isUndecided ? .verifying : .waiting(error) }
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
    /// - Throws: `interactionNotAllowed` after a lock; `rowsDiffer` if rows or indexes differ from the committed ones, unless the
    ///   user has accepted that; `inUse` if rows under old keys are still added; the errors of the store. The progress is kept.
    func rekey(hasSpace: (Int) -> Bool = { _ in true }) throws(KeychainFault) {
        guard try keys.masterKeySets().areSeveral else { return keys.rekeying.cancel() }
        try awaitVerification()
        for _ in 0..<Self.rekeyPasses {
            let old = try keys.oldKeys()
            let total = try store.read { (reader) throws(KeychainFault) in try reader.rowCounts(of: old).items }
            keys.rekeying.note { progress in
                progress = RekeyProgress()
                (progress.phase, progress.total) = (.running, total)
            }
            var damaged = OldRowCounts()
            damaged.directories = try resealAll(hasSpace) { (after) throws(KeychainFault) in
                try rekeyDirectories(of: old, after: after)
            }
            damaged.items = try resealAll(hasSpace) { (after) throws(KeychainFault) in
                try rekeyItems(of: old, after: after)
            }
            damaged.past = try resealAll(hasSpace) { (after) throws(KeychainFault) in
                try rekeyPast(of: old, after: after)
            }
            // A row that was sealed before the rotation may have been committed after the scan had passed it. A change of
            // slots may rotate the keys in the meantime.
            let (left, isEnd) = try keys.removeKeys(of: old, damaged: damaged)
            if isEnd { return endRekey(left: left) }
        }
        throw .inUse(processID: 0)
    }

    /// Waits until the rows have been verified since the unlock: while the rekey was interrupted, the holder of old keys may have
    /// exchanged rows, which would get new keys.
    private func awaitVerification() throws(KeychainFault) {
        guard !keys.rekeying.acceptsDifferences else { return }
        if keys.verification.isUnderWay {
            keys.rekeying.note { $0.phase = .verifying }
            keys.verification.awaitResult()
        }
        guard keys.state == .unlocked else { throw .interactionNotAllowed }
        guard try verifiedIntegrity() == .verified else { throw .rowsDiffer }
    }

    /// Requires, in a transaction, that no other program has changed the store, and no difference was found in the meantime.
    private func requireIntactRows() throws(KeychainFault) {
        guard integrity != .damaged || keys.rekeying.acceptsDifferences else { throw .rowsDiffer }
    }

    /// Reseals every row under old keys that can be opened, once. Returns the number of rows that cannot be opened.
    private func resealAll(
        _ hasSpace: (Int) -> Bool, _ page: (_ after: RowID) throws(KeychainFault) -> RekeyPage?
    ) throws(KeychainFault) -> Int {
        var after = RowID.none
        var damaged = 0
        while true {
            guard hasSpace(Self.rekeyPageBytes) else { throw .diskFull }
            // The check at the start of a transaction does not find each change of the log.
            try store.findExternalChanges()
            guard let page = try page(after) else { return damaged }
            keys.rekeying.note { $0.done += page.items }
            damaged += page.damaged
            after = page.last
            guard keys.rekeying.pause(milliseconds: Self.rekeyPause) else { throw .interactionNotAllowed }
        }
    }

    /// Reseals the next items in one transaction. Returns nil if no item follows `after`.
    func rekeyItems(of old: OldKeys, after: RowID) throws(KeychainFault) -> RekeyPage? {
        let ids = try store.read { (reader) throws(KeychainFault) in
            try reader.itemIDs(of: old, after: after, limit: Self.rekeyPageSize)
        }
        return try rekey(ids) { (id, transaction) throws(KeychainFault) in try transaction.rekey(id, from: old) }
    }

    /// Reseals the next past values in one transaction. Returns nil if none follows `after`.
    func rekeyPast(of old: OldKeys, after: RowID) throws(KeychainFault) -> RekeyPage? {
        let ids = try store.read { (reader) throws(KeychainFault) in
            try reader.pastIDs(of: old, after: after, limit: Self.rekeyPageSize)
        }
        var page = try rekey(ids) { (id, transaction) throws(KeychainFault) in
            try transaction.rekeyPast(id, from: old)
        }
        // The progress counts items only.
        page?.items = 0
        return page
    }

    /// Reseals rows in one transaction, until the secrets of a page are complete. Returns nil without rows.
    private func rekey(
        _ rows: [RowID], _ body: (RowID, Transaction) throws(KeychainFault) -> RekeyOutcome
    ) throws(KeychainFault) -> RekeyPage? {
        guard let first = rows.first else { return nil }
        return try change { (transaction) throws(KeychainFault) in
            try requireIntactRows()
            var page = RekeyPage(last: first)
            var bytes = 0
            for row in rows where bytes < Self.rekeyPageBytes {
                switch try body(row, transaction) {
                case .sealed(let count): (page.items, bytes) = (page.items + 1, bytes + count)
                case .damaged: page.damaged += 1
                case .other: break
                }
                page.last = row
            }
            return page
        }
    }

    /// Reseals the next directories in one transaction. Returns nil if no directory follows `after`.
    func rekeyDirectories(of old: OldKeys, after: RowID) throws(KeychainFault) -> RekeyPage? {
        let ids = try store.read { (reader) throws(KeychainFault) in
            try reader.directoryIDs(of: old, after: after, limit: Self.rekeyPageSize)
        }
        guard let last = ids.last else { return nil }
        return try change { (transaction) throws(KeychainFault) in
            try requireIntactRows()
            var page = RekeyPage(last: last)
            for id in ids where try !transaction.rekeyDirectory(id, from: old) { page.damaged += 1 }
            return page
        }
    }

    /// Removes the remains of old keys in the log (contract, S8).
    private func endRekey(left: Int) {
        cache.dropAll()
        do throws(KeychainFault) {
            try store.truncateLog()
        } catch {
            store.eraseLogSoon()
        }
        keys.rekeying.finished(left: left)
    }
}

/// The result of the start of a rekey.
package enum RekeyStart: Hashable, Sendable {
    /// Contains the key slots that were removed because their records are damaged or forged.
    case started(lostSlots: [Int64])
    /// Nothing was changed: rows or indexes differ from the committed ones. The holder of a removed slot may have forged
    /// rows, which would be resealed with the others.
    case differs
}

/// The result of one transaction of a rekey.
struct RekeyPage {
    /// The last row of the page.
    var last: RowID
    /// The number of items that were resealed.
    var items = 0
    /// The number of rows that cannot be opened.
    var damaged = 0
}

/// The outcome of a rekey for one item or past value.
enum RekeyOutcome {
    /// Resealed; contains the number of bytes of its secret.
    case sealed(Int)
    /// The row is not authentic. It stays unchanged, so that reading it reports the damage.
    case damaged
    /// Under newer keys already, or deleted.
    case other
}

extension Transaction {
    /// Reseals an item with its secret under the newest keys of its class. No visible property changes, not even its
    /// version.
    func rekey(_ id: RowID, from old: OldKeys) throws(KeychainFault) -> RekeyOutcome {
        do throws(KeychainFault) {
            guard let record = try writer.item(id: id) else { return .other }
            guard old.generations.contains(KeyGeneration(record.protection, record.generation)) else {
                return try rekeyMAC(record, from: old)
            }
            let ciphertext = try writer.secret(of: id)
            guard record.ephemeral == nil else { return try rewrap(id) ? .sealed(ciphertext.count) : .damaged }
            let sealed = try keychain.itemEnvelope.renew(record, ciphertext: ciphertext)
            try writer.put(sealed.record, secret: sealed.secret)
            return .sealed(ciphertext.count)
        } catch .decode {
            return .damaged
        }
    }

    /// Renews the MAC of an item whose class keys stay: another device's, or without a newer generation.
    private func rekeyMAC(_ record: ItemRecord, from old: OldKeys) throws(KeychainFault) -> RekeyOutcome {
        guard let generation = record.masterKeyGeneration, generation < old.masterGeneration else { return .other }
        try writer.put(keychain.itemEnvelope.renewMAC(record), secret: nil)
        return .sealed(0)
    }

    /// Reseals a past value under the newest keys.
    func rekeyPast(_ id: RowID, from old: OldKeys) throws(KeychainFault) -> RekeyOutcome {
        do throws(KeychainFault) {
            guard let (record, ciphertext) = try writer.pastWithSecret(id: id) else { return .other }
            let sealed = try keychain.pastEnvelope.renew(record, ciphertext: ciphertext, from: old)
            try writer.put(sealed.record, secret: sealed.secret)
            return .sealed(ciphertext.count)
        } catch .decode {
            return .damaged
        }
    }

    /// Reseals a directory under the newest master keys. No visible property changes. Returns false if it is damaged; it
    /// stays unchanged then.
    func rekeyDirectory(_ id: RowID, from old: OldKeys) throws(KeychainFault) -> Bool {
        do throws(KeychainFault) {
            guard let record = try writer.directory(id: id), record.masterKeyGeneration < old.masterGeneration else {
                return true
            }
            try writer.put(keychain.directoryEnvelope.renew(record))
            return true
        } catch .decode {
            return false
        }
    }
}
