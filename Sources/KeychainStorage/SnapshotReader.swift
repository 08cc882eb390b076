internal import GRDB
internal import Keychain
internal import Synchronization

/// A second connection to an open database, for reads beside a transaction: they see what was committed last.
///
/// Made when it is first needed: most processes never are so busy.
final class SnapshotReader: Sendable {
    private enum State: Sendable {
        case unopened(@Sendable () -> DatabaseQueue?)
        case open(DatabaseQueue)
        case closed
    }

    /// Who may use it. Taken after the gate of the writing connection, if at all with it.
    private let gate = Gate()
    /// Touched by the gate's owner only.
    private let state = Mutex(State.closed)

    /// Whether the calling thread is in the middle of a read.
    var isUsedByCurrentThread: Bool { gate.isHeldByCurrentThread }

    /// How it is opened; nil if it cannot be.
    func begin(_ open: @escaping @Sendable () -> DatabaseQueue?) {
        state.withLock { $0 = .unopened(open) }
    }

    /// Runs `body` in a transaction that only reads; within one of the same thread, as a part of it. Nil if there is no such
    /// connection, or SQLite cannot serve it now.
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
            // A part of a read of this thread: to wait for the other connection now might be for ever.
            if case .inUse = error, !isNested { return nil }
            throw error
        }
    }

    /// Runs `body` while nobody reads here.
    func excludingReaders<Result>(_ body: () throws(KeychainFault) -> Result) throws(KeychainFault) -> Result {
        gate.acquire()
        defer { gate.release() }
        return try body()
    }

    /// Forgets the pages that SQLite has in memory; waits for a read that is under way.
    func releaseMemory() {
        gate.acquire()
        defer { gate.release() }
        guard case .open(let queue) = state.withLock({ $0 }) else { return }
        queue.unsafeReentrantRead { db in try? db.execute(sql: WriterConnection.releaseMemory) }
    }

    /// Closes it for good; waits for a read that is under way.
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
