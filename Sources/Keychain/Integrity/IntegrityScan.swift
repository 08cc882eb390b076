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
}

/// The findings of a verification.
package struct IntegrityFindings: Hashable, Sendable {
    /// The fault of the rows; nil if every row is as committed.
    package var rows: IntegrityFault?
    package var indexes = IndexFindings()

    package var isConsistent: Bool { rows == nil && indexes.areConsistent }
}

/// Verifies that the store has exactly the committed rows, none of them older.
///
/// Reads a page of rows at a time, without secrets. Commits between pages are taken into account. Used by one thread.
final class IntegrityScan {
    /// The position of the scan, and the sum of the rows up to it.
    struct Progress: Sendable {
        var reached = RowPosition.start
        var sum = DigestSum()
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
        let digest = try ledger.digest()
        return try store.readExclusively { (reader) throws(KeychainFault) in
            do throws(KeychainFault) {
                return try step(reader, digest)
            } catch .decode {
                return .finished(.rowsUnreadable)
            }
        }
    }

    private func step(_ reader: any RecordReader, _ digest: RowDigest) throws(KeychainFault) -> Step {
        var progress = ledger[pass: id]
        defer { ledger[pass: id] = progress }
        switch progress.reached.table {
        case .store, .slot, .device, .classKey, .userKey:
            try addKeys(reader, digest, to: &progress.sum)
            progress.reached = RowPosition(table: .directory)
        case .directory:
            let heads = try reader.directorySummaries(after: RowID(rawValue: progress.reached.id), limit: pageSize)
            for summary in heads { progress.sum += try digest.sum(summary) }
            progress.reached =
                heads.last.map { RowPosition(table: .directory, id: $0.id.rawValue) }
                ?? RowPosition(table: .item)
        case .item:
            let heads = try reader.itemSummaries(after: RowID(rawValue: progress.reached.id), limit: pageSize)
            for summary in heads { progress.sum += try digest.sum(summary) }
            // An incomplete page is the last one. Waiting for an empty one, the scan might never end next to a steady
            // writer.
            guard heads.count == pageSize, let last = heads.last else {
                return .finished(try fault(of: progress.sum, reader, digest))
            }
            progress.reached.id = last.id.rawValue
        }
        return .more
    }

    private func addKeys(
        _ reader: any RecordReader, _ digest: RowDigest, to sum: inout DigestSum
    ) throws(KeychainFault) {
        sum += try digest.sum(reader.store())
        for slot in try reader.slots() { sum += try digest.sum(slot) }
        for device in try reader.devices() { sum += try digest.sum(device) }
        for key in try reader.classKeys() { sum += try digest.sum(key) }
        for key in try reader.userKeys() { sum += try digest.sum(key) }
    }

    private func fault(
        of sum: DigestSum, _ reader: any RecordReader, _ digest: RowDigest
    ) throws(KeychainFault) -> IntegrityFault? {
        let record = try reader.store()
        let header = try digest.header(of: record)
        guard sum != header.rows else { return nil }
        let missing = header.rows.count &- sum.count
        if missing > 0 { return .rowsMissing(missing) }
        return missing < 0 ? .rowsAdded(-missing) : .rowsReplaced
    }
}
