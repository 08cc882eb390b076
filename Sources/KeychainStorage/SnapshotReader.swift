internal import GRDB
internal import Keychain
internal import Synchronization

/// A second connection to an open database for reads during a transaction, which see the last commit.
///
/// Opened when it is first needed; most processes never need it.
final class SnapshotReader: Sendable {
    private enum State: Sendable {
        case unopened(@Sendable () -> DatabaseQueue?)
        case open(DatabaseQueue)
        case closed
    }

    /// The lock on this connection. Acquired after that of the writing connection, if both are needed.
    private let gate = Gate()
    /// The connection's state, used only by the lock's owner.
    private let state = Mutex(State.closed)

    /// Whether the calling thread is in a read.
    var isUsedByCurrentThread: Bool { gate.isHeldByCurrentThread }

    /// Sets the function that opens the connection, which returns nil if that fails.
    func begin(_ open: @escaping @Sendable () -> DatabaseQueue?) {
        state.withLock { $0 = .unopened(open) }
    }

    /// Runs `body` in a read transaction; within a read of the same thread, as a part of it. Returns nil if there is no
    /// such connection, or SQLite cannot use it now.
    func read<Result>(
        _ body: (Database) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result? {
        let isNested = gate.isHeldByCurrentThread
        if !isNested { gate.acquire() }
        defer { if !isNested { gate.release() } }
        guard let queue = connection() else { return nil }
        do throws(KeychainFault) {
            return try Self.use(queue, isNested: isNested, body)
        } catch {
            // In a nested read: waiting for the other connection could be a deadlock.
            if case .inUse = error, !isNested { return nil }
            throw error
        }
    }

    /// Runs `body` while no thread reads with this connection.
    func excludingReaders<Result>(_ body: () throws(KeychainFault) -> Result) throws(KeychainFault) -> Result {
        gate.acquire()
        defer { gate.release() }
        return try body()
    }

    /// Blocks until the read in progress has ended.
    func awaitReads() {
        gate.acquire()
        gate.release()
    }

    /// Frees the cached pages. Waits for a read in progress.
    func releaseMemory() {
        gate.acquire()
        defer { gate.release() }
        guard case .open(let queue) = state.withLock({ $0 }) else { return }
        queue.unsafeReentrantRead { db in try? db.execute(sql: WriterConnection.releaseMemory) }
    }

    /// Closes the connection permanently. Waits for a read in progress.
    func close() {
        gate.acquire()
        defer { gate.release() }
        let last = state.withLock { state in
            defer { state = .closed }
            return state
        }
        if case .open(let queue) = last { WriterConnection.close(queue) }
    }

    private func connection() -> DatabaseQueue? {
        switch state.withLock({ $0 }) {
        case .open(let queue): return queue
        case .closed: return nil
        case .unopened(let open):
            let queue = open()
            state.withLock { $0 = queue.map { .open($0) } ?? .closed }
            return queue
        }
    }

    private static func use<Result>(
        _ queue: DatabaseQueue, isNested: Bool, _ body: (Database) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result {
        let result: Swift.Result<Result, KeychainFault> = queue.unsafeReentrantRead { db in
            Swift.Result { () throws(KeychainFault) in
                guard !isNested else { return try body(db) }
                try execute("BEGIN DEFERRED TRANSACTION", db)
                defer { try? execute("COMMIT TRANSACTION", db) }
                return try body(db)
            }
        }
        return try result.get()
    }

    private static func execute(_ sql: String, _ db: Database) throws(KeychainFault) {
        try KeychainFault.mapping(db) { try db.cachedStatement(sql: sql).execute() }
    }
}
