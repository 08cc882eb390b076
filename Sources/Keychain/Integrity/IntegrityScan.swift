/// A difference between the rows of a store and the committed ones (contract, S2, S4).
package enum IntegrityFault: Hashable, Sendable {
    /// At least this number of rows is missing.
    case rowsMissing(Int64)
    /// At least this number of rows was never committed.
    case rowsAdded(Int64)
    /// The number of rows is right, but some are older or were changed.
    case rowsReplaced
    /// A row, or the header itself, is malformed.
    case rowsUnreadable
    /// The store is in the state of another transaction than the last one of this program: another copy was written over
    /// it.
    case anotherCopy
}

/// The findings of a verification.
package struct IntegrityFindings: Hashable, Sendable {
    /// The fault of the rows; nil if every row is as committed.
    package var rows: IntegrityFault?
    package var indexes = IndexFindings()

    package var isConsistent: Bool { rows == nil && indexes.areConsistent }

    /// Whether indexes are wrong and can be rebuilt from the rows.
    var mayRebuildIndexes: Bool { rows == nil && indexes.hasDifferences }
}

/// Verifies that the store has exactly the committed rows, none of them older.
///
/// Reads a page of rows at a time, without secrets. Commits between pages are taken into account. Used by one thread.
final class IntegrityScan {
    /// The position of the scan, and the sums of the rows up to it.
    struct Progress: Sendable {
        var reached = RowPosition.start
        var sums = StoreSums()

        /// Continues after the last row of a complete page, or with the next table. An incomplete page is the last one: waiting
        /// for an empty one, the scan might never end next to a steady writer.
        mutating func advance(past last: RowID?, next: RowTable) {
            reached =
                last.map { RowPosition(table: reached.table, id: $0.rawValue) } ?? RowPosition(table: next, id: .min)
        }

        /// The position among item keys; nil before the first one.
        var itemKey: ItemKeyRecord.Position? {
            reached.id == .min ? nil : ItemKeyRecord.Position(item: RowID(rawValue: reached.id), kind: reached.kind)
        }
    }

    enum Step {
        case more
        /// Finished; nil if every row is as committed.
        case finished(IntegrityFault?)
    }

    private let store: any RecordStore
    private let ledger: DigestLedger
    private let id: Int
    /// The number of rows that are read at a time.
    private let pageSize: Int

    init(_ store: any RecordStore, ledger: DigestLedger, pageSize: Int = 256) {
        self.store = store
        self.ledger = ledger
        self.pageSize = pageSize
        id = ledger.beginPass()
    }

    deinit { ledger.endPass(id) }

    /// Verifies all rows, without a pause.
    func run() throws(KeychainFault) -> IntegrityFault? {
        while true {
            if case .finished(let fault) = try step() { return fault }
        }
    }

    /// Verifies one more page. Blocks the store only during that.
    func step() throws(KeychainFault) -> Step {
        try store.readExclusively { (reader) throws(KeychainFault) in
            let digest = try ledger.digest()
            // A page that fails counts for nothing, because it may be repeated.
            var progress = ledger[pass: id]
            do throws(KeychainFault) {
                let result = try step(reader, digest, &progress)
                ledger[pass: id] = progress
                return result
            } catch .decode {
                return .finished(.rowsUnreadable)
            }
        }
    }

    private func step(
        _ reader: any RecordReader, _ digest: RowDigest, _ progress: inout Progress
    ) throws(KeychainFault) -> Step {
        let after = RowID(rawValue: progress.reached.id)
        switch progress.reached.table {
        case .store, .slot, .device, .classKey, .userKey:
            progress.sums.keys += try digest.sum(KeySnapshot(reader))
            progress.reached = RowPosition(table: .directory, id: .min)
        case .directory:
            let rows = try reader.directories(after: after, limit: pageSize)
            for row in rows { progress.sums.rows += try digest.sum(row) }
            progress.advance(past: rows.count == pageSize ? rows.last?.id : nil, next: .item)
        case .item:
            let rows = try reader.items(after: after, limit: pageSize)
            for row in rows { progress.sums.rows += try digest.sum(row) }
            progress.advance(past: rows.count == pageSize ? rows.last?.id : nil, next: .past)
        case .past:
            let rows = try reader.pastValues(after: after, limit: pageSize)
            for row in rows { progress.sums.rows += try digest.sum(row) }
            progress.advance(past: rows.count == pageSize ? rows.last?.id : nil, next: .itemKey)
        case .itemKey:
            let page = try reader.itemKeys(after: progress.itemKey, limit: pageSize)
            guard page.malformed == 0 else { throw .decode }
            for row in page.records { progress.sums.rows += try digest.sum(row) }
            guard let last = page.last else {
                guard let header = try ledger.lastHeader(of: reader.store()) else { return .finished(.anotherCopy) }
                return .finished(IntegrityFault(found: progress.sums, committed: header.sums))
            }
            progress.reached = RowPosition(table: .itemKey, id: last.item.rawValue, kind: last.kind)
        }
        return .more
    }
}

extension IntegrityFault {
    /// The difference between two sums; nil if they are equal. A fault of keys is reported if no other rows are wrong.
    init?(found: StoreSums, committed: StoreSums) {
        guard let fault = Self(found.rows, committed.rows) ?? Self(found.keys, committed.keys) else { return nil }
        self = fault
    }

    private init?(_ found: DigestSum, _ committed: DigestSum) {
        guard found != committed else { return nil }
        let missing = committed.count &- found.count
        self = missing == 0 ? .rowsReplaced : missing > 0 ? .rowsMissing(missing) : .rowsAdded(-missing)
    }
}
