internal import GRDB
internal import Keychain
internal import SystemPackage

extension SQLiteRecordStore {
    /// Closes the store, after replacing its file with a copy without free pages if `policy` applies.
    ///
    /// Waits for running calls, like ``close()``. Has no effect if the store is closed or read-only. The old file
    /// remains until the copy is complete, and after an error.
    ///
    /// - Returns: The reduction of the file's size in bytes.
    /// - Throws: `severalNames`; `diskFull` if the copy does not fit on the disk; `damaged` if the structure of the
    ///   file has faults, because a copy would lose rows that a repair finds; `io` with SQLITE_INTERRUPT after the time
    ///   limit.
    package func close(compacting policy: CompactionPolicy) throws(StoreOpenError) -> Int {
        guard let connection = takeConnection() else { return 0 }
        guard !isReadOnly else {
            connection.close()
            return 0
        }
        return try connection.close(compacting: policy)
    }
}

extension WriterConnection {
    fileprivate func close(compacting policy: CompactionPolicy) throws(StoreOpenError) -> Int {
        var outcome: Result<Int, StoreOpenError> = .success(0)
        close { db in
            outcome = Result { () throws(StoreOpenError) in try self.compact(db, policy) }
            _ = try? db.checkpoint(.truncate)
        }
        return try outcome.get()
    }

    private func compact(_ db: Database, _ policy: CompactionPolicy) throws(StoreOpenError) -> Int {
        let limit: TimeLimit
        do throws(Errno) {
            limit = try TimeLimit(policy.timeLimit) { [self] in interrupt() }
        } catch {
            throw StoreOpenError(error)
        }
        defer { limit.end() }
        do {
            return try Compaction(connection: self, policy: policy, limit: limit).run(db)
        } catch {
            throw StoreOpenError(opening: error)
        }
    }
}
