internal import GRDB
internal import Keychain
internal import LinuxSupport
internal import Synchronization

/// Group commit (contract, F4): callers that come while a transaction is under way leave their parts with whoever has the
/// connection. That one runs them in its own transaction as long as it is open, or the first of them does in the next one:
/// each in a savepoint, all by one thread, so that none is woken before its part is durable. One wait for the disk then
/// serves them all.
extension WriterConnection {
    /// So many share a transaction at most.
    private static let partLimit = 64

    /// What `body` throws is thrown as it is; nothing of its part is left then.
    func write<Result>(
        ending: (any TransactionEnding)?, _ body: (SQLiteRecords) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result {
        // A part of another one's transaction on the same thread: its failure could not be told apart.
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
        if let failure { throw refined(failure) }
        guard let result else { throw .notAvailable }
        return result
    }

    /// Runs the caller's part and those of others, commits, tells them, and lets the next ones in.
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

    /// `parts`: the first one, and in the end all of the transaction.
    private func runAll(_ parts: inout [TransactionPart], _ db: Database) {
        findExternalChanges(isThorough: false, db)
        let logFailure = beginLog(db)
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
        // A part that failed by itself keeps its own error.
        if let failure { for part in parts { part.fail(with: failure) } }
    }

    /// Runs a part in a savepoint, or as the first one of a new transaction; takes it back if it fails.
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
            // Its part of the digest is noted already: none of them can stay.
            part.fail(with: error)
            Self.rollBack(db)
        }
    }

    /// Takes back one part; where that fails, everything: what stays behind would be half of it.
    private func rollBackSavepoint(_ db: Database, isFirst: Bool) {
        guard db.isInsideTransaction, !isFirst else { return Self.rollBack(db) }
        do throws(KeychainFault) {
            try Self.execute("ROLLBACK TRANSACTION TO SAVEPOINT part", db)
            try Self.execute("RELEASE SAVEPOINT part", db)
        } catch {
            Self.rollBack(db)
        }
    }

    /// Commits; returns why nothing of any part is left, if so.
    ///
    /// - Parameter logFailure: Why the log could not be begun. Reported here, because parts that fail by themselves need no log.
    private func end(
        _ parts: [TransactionPart], _ db: Database, _ logFailure: KeychainFault?
    ) -> KeychainFault? {
        guard db.isInsideTransaction else {
            // The last part has failed so that SQLite, or we, rolled back everything.
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

    /// Ends the transaction if there is one: the connection has to be usable again.
    private static func rollBack(_ db: Database) {
        guard db.isInsideTransaction else { return }
        try? db.rollback()
    }

    private static func execute(_ sql: String, _ db: Database) throws(KeychainFault) {
        try KeychainFault.mapping(db) { try db.cachedStatement(sql: sql).execute() }
    }
}
