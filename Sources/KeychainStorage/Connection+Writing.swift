internal import GRDB
internal import Keychain
internal import Synchronization

/// Group commit (contract, F4): callers that come while another one's part is under way join its transaction, each in
/// a savepoint, and the last one of them commits for all. One wait for the disk then serves them all.
extension Connection {
    /// So many share a transaction at most: readers wait for its end.
    private static let memberLimit = 64

    /// What became of one caller's part.
    private enum Part<Result> {
        /// The transaction is at an end, with the part or without.
        case ended(Swift.Result<Result, KeychainError>)
        /// Others can join.
        case joined(SharedTransaction, Swift.Result<Result, KeychainError>)
    }

    /// What `body` throws is thrown as it is; nothing of its part is left then.
    func write<Result>(
        ending: (any TransactionEnding)?, _ body: (SQLiteRecords) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        do throws(KeychainError) {
            return try writeInTurn(ending: ending, body)
        } catch {
            throw explained(error)
        }
    }

    private func writeInTurn<Result>(
        ending: (any TransactionEnding)?, _ body: (SQLiteRecords) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        // A part of another one's transaction on the same thread: its failure could not be told apart.
        guard !gate.isMine else { throw .io(ResultCode.SQLITE_MISUSE.rawValue) }
        gate.enter(.write)
        let part: Part<Result>
        do throws(KeychainError) {
            part = try use { db throws(KeychainError) in run(body, ending, db) }
        } catch {
            gate.leave()
            throw error
        }
        switch part {
        case .ended(let result): return try result.get()
        case .joined(let shared, let result):
            let value = try result.get()
            try shared.wait()
            return value
        }
    }

    /// One caller's part, and the end of the transaction if nobody is there to join it. Gives up the gate.
    private func run<Result>(
        _ body: (SQLiteRecords) throws(KeychainError) -> Result, _ ending: (any TransactionEnding)?, _ db: Database
    ) -> Part<Result> {
        let joining = shared.withLock { $0 }
        let transaction = joining ?? SharedTransaction(ending: ending)
        let records = SQLiteRecords(db: db, erasures: Erasures())
        let result = Swift.Result { () throws(KeychainError) in
            try attempt(db, isFirst: joining == nil) { () throws(KeychainError) in try body(records) }
        }
        if case .success = result { transaction.join(erases: records.erasures?.happened ?? false) }
        guard db.isInsideTransaction else {
            // SQLite has rolled back everything: nobody's part is left.
            return .ended(end(transaction, with: result.failure ?? .io(ResultCode.SQLITE_ABORT.rawValue), result))
        }
        shared.withLock { $0 = transaction }
        if transaction.members < Self.memberLimit, gate.handOn() { return .joined(transaction, result) }
        return .ended(commit(transaction, db, result))
    }

    /// Runs `body` in a savepoint, or as the first part of a new transaction; takes it back if it throws.
    private func attempt<Result>(
        _ db: Database, isFirst: Bool, _ body: () throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try Self.execute(isFirst ? "BEGIN IMMEDIATE TRANSACTION" : "SAVEPOINT part", db)
        let result: Result
        do throws(KeychainError) {
            result = try body()
        } catch {
            takeBack(db, isFirst: isFirst)
            throw error
        }
        guard db.isInsideTransaction else { throw .io(ResultCode.SQLITE_ABORT.rawValue) }
        guard !isFirst else { return result }
        do throws(KeychainError) {
            try Self.execute("RELEASE SAVEPOINT part", db)
        } catch {
            // Its part of the digest is noted already: none of them can stay.
            Self.rollBack(db)
            throw error
        }
        return result
    }

    /// Takes back one part; where that fails, everything: what stays behind would be half of it.
    private func takeBack(_ db: Database, isFirst: Bool) {
        guard db.isInsideTransaction, !isFirst else { return Self.rollBack(db) }
        do throws(KeychainError) {
            try Self.execute("ROLLBACK TRANSACTION TO SAVEPOINT part", db)
            try Self.execute("RELEASE SAVEPOINT part", db)
        } catch {
            Self.rollBack(db)
        }
    }

    private func commit<Result>(
        _ transaction: SharedTransaction, _ db: Database, _ result: Swift.Result<Result, KeychainError>
    ) -> Swift.Result<Result, KeychainError> {
        do throws(KeychainError) {
            try transaction.ending?.willCommit(SQLiteRecords(db: db))
            try Self.execute("COMMIT TRANSACTION", db)
        } catch {
            Self.rollBack(db)
            return end(transaction, with: error, result)
        }
        renewLogRoom()
        eraser.committed(erasing: transaction.erases)
        return end(transaction, with: nil, result)
    }

    /// Tells everybody, and lets the next ones in. A part that failed by itself keeps its own error.
    private func end<Result>(
        _ transaction: SharedTransaction, with failure: KeychainError?, _ result: Swift.Result<Result, KeychainError>
    ) -> Swift.Result<Result, KeychainError> {
        shared.withLock { $0 = nil }
        transaction.ending?.didEnd(isCommitted: failure == nil)
        transaction.finish(failure.map { .failure($0) } ?? .success(()))
        gate.leave(afterWrite: true)
        guard let failure, case .success = result else { return result }
        return .failure(failure)
    }

    /// Ends the transaction if there is one: the connection has to be usable again.
    private static func rollBack(_ db: Database) {
        guard db.isInsideTransaction else { return }
        try? db.rollback()
    }

    private static func execute(_ sql: String, _ db: Database) throws(KeychainError) {
        try KeychainError.mapping { try db.cachedStatement(sql: sql).execute() }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
