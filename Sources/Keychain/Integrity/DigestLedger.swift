import Synchronization

/// Keeps the header row consistent with the rows: adds up the changes of a transaction and writes the header at its
/// end.
///
/// Also reports the changes to verifications in progress. The store calls it only while none of them reads, so that a
/// verification and the recorded changes refer to the same state.
final class DigestLedger: TransactionEnding {
    private struct State: Sendable {
        /// The keys of the header, from the first unlock on.
        var keys: HeaderKeys?
        /// The keys that a rotation has replaced: other threads may still use them.
        var formerKeys: [HeaderKeys] = []
        /// The state after the last transaction, and after the one that is about to be committed.
        var last: SeenState?
        var next: SeenState?
        /// Whether another copy was written over the store.
        var isOverwritten = false
        var marks = MarkSchedule(device: nil)
        /// The mark that the open transaction writes.
        var newMark: DeviceMark?
        /// The number of the next new row, from the first unlock on.
        var nextRow: RowID?
        var clock = StoreClock()
        /// The changes of the open transaction.
        var pending = DigestDelta()
        var passes: [Int: IntegrityScan.Progress] = [:]
        var nextPass = 0

        /// Compares the present header of the store with the last transaction. A difference stays (``isOverwritten``).
        ///
        /// - Returns: Whether no difference was ever found.
        mutating func compare(_ header: StoreHeader) -> Bool {
            if let last, !last.isState(of: header) { isOverwritten = true }
            return !isOverwritten
        }

        /// Gives the header of the open transaction its number, and the time.
        mutating func advance(_ header: inout StoreHeader) {
            header.commit = max(header.commit, pending.commitFloor)
            header.rekeyDevice = pending.rekeyDevice ?? header.rekeyDevice
            header.advance()
            let next = min(max(nextRow ?? .first, header.nextRow), .limit)
            (nextRow, header.nextRow) = (next, next)
            clock.advance(&header)
        }

        /// Adds the changes of the transaction to its header.
        mutating func finish(_ header: inout StoreHeader, of store: StoreRecord, keys: HeaderKeys) {
            header.sums += pending.total()
            header.past.add(pending.pastBytes)
            next = SeenState(
                header, of: store, keys: pending.rotation ?? keys, mark: newMark ?? last?.mark ?? .none)
        }

        /// Replaces the keys. Verifications in progress begin again, with the new ones.
        mutating func rotate(to keys: HeaderKeys) {
            if let old = self.keys { formerKeys.append(old) }
            self.keys = keys
            for id in passes.keys { passes[id] = IntegrityScan.Progress() }
        }
    }

    private let state = Mutex(State())
    private let caches = Mutex<[@Sendable (ChangedRows) -> Void]>([])
    /// Checked in every transaction.
    let indexes = SharedIndexTrust()

    /// Sets the keys of the header, the number of the next new row, the state of the store (nil for a new store and for
    /// a damaged header), and the tag of this device (nil for a new store). Later calls have no effect.
    func adopt(_ keys: HeaderKeys, nextRow: RowID, last: SeenState?, device: [UInt8]? = nil) {
        state.withLock { state in
            guard state.keys == nil else { return }
            (state.keys, state.nextRow, state.last) = (keys, nextRow, last)
            state.marks = MarkSchedule(device: device)
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
        guard let keys = state.withLock({ $0.keys }) else { throw .interactionNotAllowed }
        return RowDigest(keys)
    }

    /// Runs `body` with the header of the same state of the store.
    ///
    /// - Throws: `decode` if the header is not authentic.
    func read<Result>(
        _ store: any RecordStore, _ body: (any RecordReader, StoreHeader) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result {
        while true {
            let digest = try digest()
            let result = try store.read { (reader) throws(KeychainFault) -> Result? in
                let record = try reader.store()
                let header = try nilIfDamaged { () throws(KeychainFault) in try digest.header(of: record) }
                guard let header else { return nil }
                return try body(reader, header)
            }
            if let result { return result }
            // A rotation may have been committed since the keys were read.
            guard try self.digest().keys !== digest.keys else { throw .decode }
        }
    }

    /// Wipes the keys.
    func close() {
        let keys = state.withLock { state in state.formerKeys + (state.keys.map { [$0] } ?? []) }
        for key in keys { key.revoke() }
    }

    /// Adds the changes of one caller's write, when it is certain that it remains part of the transaction.
    func add(_ difference: DigestDelta) {
        state.withLock { $0.pending.add(difference) }
    }

    /// The sums of the changes of earlier writes of the transaction.
    var pendingSums: StoreSums { state.withLock { $0.pending.total() } }

    /// The directories that earlier writes of the transaction have changed, and those that they have only touched.
    var directories: (changed: Set<RowID>, touched: Set<RowID>) {
        state.withLock { ($0.pending.changedDirectories, $0.pending.touched) }
    }

    // MARK: Begin and end of a transaction

    func willBeginLog(_ reader: any RecordReader) throws(KeychainFault) {
        // Before the first unlock nothing is known, and a new store has no record.
        guard state.withLock({ $0.last != nil }) else { return }
        guard try lastHeader(of: reader.store()) != nil else { throw .decode }
    }

    func willCommit(_ writer: any RecordWriter) throws(KeychainFault) {
        let digest = try digest()
        let store = try writer.store()
        var header = try digest.header(of: store)
        // Not `lastHeader(of:)`: after a rotation in this transaction the record has another generation than the header.
        guard state.withLock({ $0.compare(header) }) else { throw .decode }
        state.withLock { $0.advance(&header) }
        try writeMark(of: header, writer, digest)
        state.withLock { $0.finish(&header, of: store, keys: digest.keys) }
        guard let keys = state.withLock({ $0.pending.rotation }) else {
            return try writer.put(digest.sealed(header, for: store))
        }
        let rotated = RowDigest(keys)
        header.sums = try header.sums.rotated(from: digest, to: rotated, writer)
        try writer.put(rotated.sealed(header, for: store))
    }

    /// Writes the mark of this device, if one is due, as a change of the open transaction. Leaves rows of keys alone that are
    /// not the committed ones, and a store that has no row of this device.
    private func writeMark(
        of header: StoreHeader, _ writer: any RecordWriter, _ digest: RowDigest
    ) throws(KeychainFault) {
        guard let tag = state.withLock({ $0.marks.device(isRequired: $0.pending.requiresMark) }) else { return }
        let writer = DigestingWriter(writer, digest: digest, ledger: self)
        let mark = try nilIfDamaged { () throws(KeychainFault) -> DeviceMark? in
            let records = try KeySnapshot(writer)
            try writer.verifyKeys(records)
            guard var device = records.devices.first(where: { $0.tag == tag }) else { return nil }
            device.mark = DeviceMark(of: header)
            try writer.put(device)
            return device.mark
        }
        guard let mark = mark ?? nil else { return }
        add(writer.difference)
        state.withLock { $0.newMark = mark }
    }

    func didEnd(isCommitted: Bool) {
        let rows = state.withLock { state -> ChangedRows? in
            defer { (state.pending, state.newMark) = (DigestDelta(), nil) }
            guard isCommitted else { return nil }
            state.last = state.next ?? state.last
            state.marks.didCommit(isMarked: state.newMark != nil, isRequired: state.pending.requiresMark)
            if let keys = state.pending.rotation {
                state.rotate(to: keys)
            } else {
                for (id, pass) in state.passes {
                    state.passes[id]?.sums += state.pending.total(upTo: pass.reached)
                }
            }
            return ChangedRows(state.pending)
        }
        if let rows { invalidate(rows) }
    }

    // MARK: Marks

    /// Begins a session of the device. Its first transaction writes the mark of the device, and
    /// ``needsMark`` is set by later ones.
    func beginSession() { state.withLock { $0.marks.begin() } }

    /// Whether the store was changed since the last mark, so that the end of the session writes one.
    var needsMark: Bool { state.withLock { $0.marks.isOutdated } }

    // MARK: The last transaction

    /// The state after the last transaction of this program, or that in which it found the store; and the keys of its
    /// generation.
    ///
    /// - Throws: `interactionNotAllowed` before the first unlock; `decode` if the header was damaged then.
    func lastState() throws(KeychainFault) -> (SeenState, HeaderKeys) {
        let (last, keys) = state.withLock { ($0.last, $0.keys) }
        guard let keys else { throw .interactionNotAllowed }
        guard let last else { throw .decode }
        return (last, keys)
    }

    /// Whether another program has written another copy over the store, possibly an older one (contract, S2). This stays
    /// until the store is closed: the next first unlock compares the store with the state that this device has seen.
    var isOverwritten: Bool { state.withLock { $0.isOverwritten } }

    /// Returns the header of the last transaction; nil if another copy was written over the store.
    ///
    /// - Parameter store: The present record, whose reader excludes transactions.
    /// - Throws: `decode` if the header is not authentic; `interactionNotAllowed` before the first unlock.
    func lastHeader(of store: StoreRecord) throws(KeychainFault) -> StoreHeader? {
        let digest = try digest()
        guard store.userKeyGeneration == digest.keys.generation else {
            state.withLock { $0.isOverwritten = true }
            return nil
        }
        let header = try digest.header(of: store)
        return state.withLock { $0.compare(header) } ? header : nil
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
