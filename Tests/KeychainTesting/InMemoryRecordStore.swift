package import Keychain
import Synchronization

/// A record store in memory with the semantics of a real one, that tests can copy, damage and make fail.
package final class InMemoryRecordStore: RecordStore {
    private struct State: Sendable {
        var records: InMemoryRecords
        var nextFailure: KeychainFault?
        var beforeNextCommit: (@Sendable () -> Void)?
        var afterNextWrite: (@Sendable () -> Void)?
        var beforeNextRead: (@Sendable () -> Void)?
        var duringNextRead: (@Sendable () -> Void)?
        var writeCount = 0
        var isClosed = false
        var onExternalChange: (@Sendable () -> Void)?
    }

    /// Held by the one writer: a commit that takes long does not keep readers waiting, as in a store in a file.
    private let writing = Mutex<Void>(())
    private let state: Mutex<State>
    private let secrets = SecretReads()
    package let isReadOnly: Bool
    package var isInPlace: Bool { !isMoved.load(ordering: .relaxed) }
    /// Whether the store behaves like one whose file has been moved.
    package let isMoved = Atomic(false)
    package let logBytes = 0
    package let freeBytes = 0

    /// An empty store, or one with the rows of another ("a copy of the file").
    package init(_ records: InMemoryRecords = InMemoryRecords(), isReadOnly: Bool = false) {
        state = Mutex(State(records: records))
        self.isReadOnly = isReadOnly
    }

    /// The rows. Setting them simulates another program that modifies the file.
    package var records: InMemoryRecords {
        get { state.withLock { $0.records } }
        set { state.withLock { $0.records = newValue } }
    }

    /// Simulates the detection of a change by another program.
    package func noteExternalChange() { state.withLock { $0.onExternalChange }?() }

    /// Writes that were committed.
    package var writeCount: Int { state.withLock { $0.writeCount } }

    /// The number of times that a sealed secret was read: an unread one cannot be decrypted.
    package var secretReads: Int { secrets.count.load(ordering: .relaxed) }

    /// The next commit fails with that error, once.
    package func failNextWrite(with error: KeychainFault) {
        state.withLock { $0.nextFailure = error }
    }

    /// Runs `body` once, when the next transaction is complete but not yet visible: a slow disk. Readers continue, other writers
    /// wait.
    package func beforeNextCommit(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.beforeNextCommit = body }
    }

    /// Calls `body` once, directly after the next commit and before its caller continues.
    package func afterNextWrite(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.afterNextWrite = body }
    }

    /// Calls `body` once, directly before the next read transaction begins.
    package func beforeNextRead(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.beforeNextRead = body }
    }

    /// Calls `body` once, after the next read transaction has begun, which does not see later commits.
    package func duringNextRead(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.duringNextRead = body }
    }

    package func read<Result>(
        _ body: (any RecordReader) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result {
        take(\.beforeNextRead)?()
        let (records, isClosed) = state.withLock { ($0.records, $0.isClosed) }
        take(\.duringNextRead)?()
        guard !isClosed else { throw .notAvailable }
        return try body(InMemoryTransaction(records, secrets))
    }

    /// Reads without a write transaction in progress.
    package func readExclusively<Result>(
        _ body: (any RecordReader) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result {
        try read(body)
    }

    /// Does not wait: the tests of concurrent reads use a store in a file.
    package func awaitReads() {}

    /// Runs one write at a time: `body` must not write to the store itself.
    package func write<Result>(
        ending: (any TransactionEnding)?, _ body: (any RecordWriter) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result {
        guard !isReadOnly else { throw .readOnly }
        // The result stays outside: what a mutex returns has to be sendable.
        var result: Result?
        try writing.withLock { (_) throws(KeychainFault) in
            let (records, isClosed) = state.withLock { ($0.records, $0.isClosed) }
            guard !isClosed else { throw .notAvailable }
            let transaction = InMemoryTransaction(records, secrets)
            do throws(KeychainFault) {
                result = try body(transaction)
                try ending?.willCommit(transaction)
                take(\.beforeNextCommit)?()
                try commit(transaction, ending)
            } catch {
                ending?.didEnd(isCommitted: false)
                throw error
            }
        }
        take(\.afterNextWrite)?()
        guard let result else { throw .io(0) }
        return result
    }

    /// Shows a transaction to readers and ends it, as one step.
    private func commit(
        _ transaction: InMemoryTransaction, _ ending: (any TransactionEnding)?
    ) throws(KeychainFault) {
        try state.withLock { (state) throws(KeychainFault) in
            if let failure = state.nextFailure {
                state.nextFailure = nil
                throw failure
            }
            state.records = transaction.records
            state.writeCount += 1
            ending?.didEnd(isCommitted: true)
        }
    }

    /// Removes and returns a function that is called once.
    private func take(_ hook: WritableKeyPath<State, (@Sendable () -> Void)?>) -> (@Sendable () -> Void)? {
        state.withLock { state in
            defer { state[keyPath: hook] = nil }
            return state[keyPath: hook]
        }
    }

    package func eraseLogSoon() {}
    package func watchExternalChanges(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.onExternalChange = body }
    }

    package func findExternalChanges() {}
    package func truncateLog() {}

    package func verifyStructure() throws(KeychainFault) -> Int {
        guard !state.withLock({ $0.isClosed }) else { throw .notAvailable }
        return 0
    }

    package func close() {
        state.withLock { $0.isClosed = true }
    }
}

/// Counts for all transactions of a store.
final class SecretReads: Sendable {
    let count = Atomic<Int>(0)
}
