import Synchronization

/// Keeps the header row consistent with the rows: adds up the changes of a transaction and writes the header at its
/// end.
///
/// Also reports the changes to verifications in progress. The store calls it only while none of them reads, so that a
/// verification and the recorded changes refer to the same state.
final class DigestLedger: TransactionEnding {
    private struct State: Sendable {
        /// The keys of the store, from the first unlock on.
        var master: MasterKeys?
        /// The number of the next new row, from the first unlock on.
        var nextRow: RowID?
        var clock = StoreClock()
        /// The changes of the open transaction.
        var pending = DigestDelta()
        var passes: [Int: IntegrityScan.Progress] = [:]
        var nextPass = 0
    }

    private let state = Mutex(State())
    private let caches = Mutex<[@Sendable (ChangedRows) -> Void]>([])
    /// Checked in every transaction.
    let indexes = SharedIndexTrust()

    /// Sets the keys of the store, and the number of the next new row. Later calls have no effect.
    func adopt(_ master: MasterKeys, nextRow: RowID) {
        state.withLock { state in
            guard state.master == nil else { return }
            (state.master, state.nextRow) = (master, nextRow)
        }
    }

    /// Sets the wall clock that the headers of transactions contain.
    func setClock(_ clock: @escaping @Sendable () -> KeychainDate) { state.withLock { $0.clock.wallClock = clock } }

    /// Returns an unused row number. It is not used again, even if no row gets it.
    ///
    /// - Throws: `interactionNotAllowed` before the first unlock; `decode` if no number is left.
    func reserveRowID() throws(KeychainFault) -> RowID {
        let row = state.withLock { state -> RowID? in
            guard let row = state.nextRow else { return nil }
            state.nextRow = row.next
            return row
        }
        guard let row else { throw .interactionNotAllowed }
        guard row < .limit else { throw .decode }
        return row
    }

    /// - Throws: `interactionNotAllowed` before the first unlock.
    func digest() throws(KeychainFault) -> RowDigest {
        guard let master = state.withLock({ $0.master }) else { throw .interactionNotAllowed }
        return RowDigest(master)
    }

    /// Wipes the keys.
    func close() { state.withLock { $0.master }?.revoke() }

    /// Adds the changes of one caller's write, when it is certain that it remains part of the transaction.
    func add(_ difference: DigestDelta) {
        state.withLock { $0.pending.add(difference) }
    }

    /// The directories that earlier writes of the transaction have changed, and those that they have only touched.
    var directories: (changed: Set<RowID>, touched: Set<RowID>) {
        state.withLock { ($0.pending.changedDirectories, $0.pending.touched) }
    }

    // MARK: The end of a transaction

    func willCommit(_ writer: any RecordWriter) throws(KeychainFault) {
        let digest = try digest()
        let store = try writer.store()
        var header = try digest.header(of: store)
        header.advance()
        state.withLock { state in
            // Another program may have written since the keychain was unlocked.
            let next = min(max(state.nextRow ?? .first, header.nextRow), .limit)
            (state.nextRow, header.nextRow) = (next, next)
            header.sums += state.pending.total()
            state.clock.advance(&header)
        }
        try writer.put(digest.sealed(header, for: store))
    }

    func didEnd(isCommitted: Bool) {
        let rows = state.withLock { state -> ChangedRows? in
            defer { state.pending = DigestDelta() }
            guard isCommitted else { return nil }
            for (id, pass) in state.passes {
                state.passes[id]?.sums += state.pending.total(upTo: pass.reached)
            }
            return ChangedRows(state.pending)
        }
        if let rows { invalidate(rows) }
    }

    // MARK: Caches

    /// Calls `body` with the changed rows at the end of each transaction, before any of its callers continues, and with
    /// ``ChangedRows/all`` after a change by another program. `body` must not use the store.
    func watch(_ body: @escaping @Sendable (ChangedRows) -> Void) { caches.withLock { $0.append(body) } }

    func invalidate(_ rows: ChangedRows) {
        for body in caches.withLock({ $0 }) { body(rows) }
    }

    // MARK: Verifications

    func beginPass() -> Int {
        state.withLock { state in
            state.nextPass += 1
            state.passes[state.nextPass] = IntegrityScan.Progress()
            return state.nextPass
        }
    }

    func endPass(_ id: Int) { state.withLock { _ = $0.passes.removeValue(forKey: id) } }

    subscript(pass id: Int) -> IntegrityScan.Progress {
        get { state.withLock { $0.passes[id] ?? IntegrityScan.Progress() } }
        set { state.withLock { $0.passes[id] = newValue } }
    }
}
