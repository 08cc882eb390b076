internal import GRDB
internal import Keychain
internal import LinuxSupport
internal import Synchronization

/// Group commit (contract, F4). Callers that arrive during a transaction enqueue their writes. The lock's holder
/// executes them in its transaction while that is open; otherwise the first of the callers does in the next one. Each
/// is executed in a savepoint, all by one thread, so that no caller wakes before its write is durable. One wait for the
/// disk serves all of them.
extension WriterConnection {
    /// The maximum number of writes per transaction.
    private static let partLimit = 64

    /// Executes `body` in a transaction, or in a savepoint of another thread's transaction. An error of `body` is
    /// thrown unchanged; none of its changes remains then.
    func write<Result>(
        ending: (any TransactionEnding)?, _ body: (SQLiteRecords) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result {
        // In a part of another write on the same thread, a failure could not be attributed.
        guard !gate.isHeldByCurrentThread, !snapshots.isUsedByCurrentThread else {
            throw .io(ResultCode.SQLITE_MISUSE.rawValue)
        }
        var result: Result?
        let failure = TransactionPart.Call.withCall { records in
            Swift.Result { () throws(KeychainFault) in result = try body(records) }
        } to: { call in
            let part = TransactionPart(call, ending: ending)
            if case .lead = gate.enter(with: part) { commitGroup(part) }
            return part.failure
        }
        if let failure { throw failure }
        guard let result else { throw .notAvailable }
        return result
    }

    /// Executes the caller's write and those of others, commits, wakes the callers, and releases the lock.
    private func commitGroup(_ first: TransactionPart) {
        var parts = [first]
        do throws(KeychainFault) {
            try use { db throws(KeychainFault) in runAll(&parts, db) }
        } catch {
            first.fail(with: error)
        }
        gate.release(afterWrite: true)
        for part in parts.dropFirst() { part.wake(.completed) }
    }

    /// - Parameter parts: The first write; at the end all of the transaction.
    private func runAll(_ parts: inout [TransactionPart], _ db: Database) {
        findExternalChanges(isThorough: false, db)
        let logFailure = beginLog(db, parts.first?.ending)
        var next = parts.first
        while let part = next {
            run(part, isFirst: parts.count == 1, db)
            guard db.isInsideTransaction, parts.count < Self.partLimit else { break }
            next = gate.dequeueWrite()
            if let next { parts.append(next) }
        }
        let failure = end(parts, db, logFailure)
        externalChanges.withLock { $0.noteLog() }
        parts.first { $0.ending != nil }?.ending?.didEnd(isCommitted: failure == nil)
        // A write that failed on its own keeps its own error.
        if let failure { for part in parts { part.fail(with: failure) } }
    }

    /// Executes a write in a savepoint, or as the first one of a new transaction. Rolls it back if it fails.
    private func run(_ part: TransactionPart, isFirst: Bool, _ db: Database) {
        do throws(KeychainFault) {
            try Self.execute(isFirst ? "BEGIN IMMEDIATE TRANSACTION" : "SAVEPOINT part", db)
        } catch {
            return part.fail(with: error)
        }
        do throws(KeychainFault) {
            try part.execute(SQLiteRecords(db: db, erasures: ErasureFlag()))
        } catch {
            part.fail(with: error)
            return rollBackSavepoint(db, isFirst: isFirst)
        }
        guard db.isInsideTransaction else { return part.fail(with: .io(ResultCode.SQLITE_ABORT.rawValue)) }
        guard !isFirst else { return }
        do throws(KeychainFault) {
            try Self.execute("RELEASE SAVEPOINT part", db)
        } catch {
            // Its part of the digest has been recorded already, so none of the writes can stay.
            part.fail(with: error)
            Self.rollBack(db)
        }
    }

    /// Rolls back one write; if that fails, the whole transaction, because a part of the write would remain.
    private func rollBackSavepoint(_ db: Database, isFirst: Bool) {
        guard db.isInsideTransaction, !isFirst else { return Self.rollBack(db) }
        do throws(KeychainFault) {
            try Self.execute("ROLLBACK TRANSACTION TO SAVEPOINT part", db)
            try Self.execute("RELEASE SAVEPOINT part", db)
        } catch {
            Self.rollBack(db)
        }
    }

    /// Commits.
    ///
    /// - Parameter logFailure: The reason why the log could not be begun. Reported here, because writes that fail by
    ///   themselves need no log.
    /// - Returns: The reason why none of the changes has been committed; nil on success.
    private func end(
        _ parts: [TransactionPart], _ db: Database, _ logFailure: KeychainFault?
    ) -> KeychainFault? {
        guard db.isInsideTransaction else {
            // The last write has failed such that SQLite, or this module, rolled back everything.
            return parts.last?.failure ?? .io(ResultCode.SQLITE_ABORT.rawValue)
        }
        do throws(KeychainFault) {
            if let logFailure { throw logFailure }
            try parts.first { $0.ending != nil }?.ending?.willCommit(SQLiteRecords(db: db))
            try Self.execute("COMMIT TRANSACTION", db)
        } catch {
            logProgress.withLock { $0.fail() }
            Self.rollBack(db)
            return error
        }
        logHasGrown(db)
        eraser.committed(erasing: parts.contains { $0.failure == nil && $0.isErasing })
        return nil
    }

    /// Rolls back the transaction if one is open, so that the connection is usable again.
    private static func rollBack(_ db: Database) {
        guard db.isInsideTransaction else { return }
        try? db.rollback()
    }

    private static func execute(_ sql: String, _ db: Database) throws(KeychainFault) {
        try KeychainFault.mapping(db) { try db.cachedStatement(sql: sql).execute() }
    }
}
