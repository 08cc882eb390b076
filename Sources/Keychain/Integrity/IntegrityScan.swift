/// How the rows of a store differ from what was committed (contract, S2, S4).
package enum IntegrityFault: Hashable, Sendable {
    /// Rows are gone, at least so many.
    case rowsMissing(Int64)
    /// There are rows that were never committed, at least so many.
    case rowsAdded(Int64)
    /// As many rows as were committed, but older or changed ones among them.
    case rowsReplaced
    /// A row, or the header itself, is not of the form of one.
    case rowsUnreadable
}

/// What a verification found.
package struct IntegrityFindings: Hashable, Sendable {
    /// Nil: every row is what was committed.
    package var rows: IntegrityFault?
    package var indexes = IndexFindings()

    package var isConsistent: Bool { rows == nil && indexes.areConsistent }
}

/// Verifies that the store has the rows that were committed, no others and no older ones.
///
/// Reads a page of rows at a time, and no contents; commits go on in between, and are taken into account.
/// One thread steps a pass.
final class IntegrityScan {
    /// How far it is, and the sum of the rows up to there.
    struct Progress: Sendable {
        var reached = RowPosition.start
        var sum = DigestSum()
    }

    enum Step {
        case more
        /// Nil: every row is what was committed.
        case finished(IntegrityFault?)
    }

    private let store: any RecordStore
    private let ledger: DigestLedger
    private let id: Int
    /// Rows that are read at once.
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

    /// Verifies one page more; holds the store only for that.
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
            let heads = try reader.directoryHeads(after: RowID(rawValue: progress.reached.id), limit: pageSize)
            for summary in heads { progress.sum += try digest.sum(summary) }
            progress.reached =
                heads.last.map { RowPosition(table: .directory, id: $0.id.rawValue) }
                ?? RowPosition(table: .item)
        case .item:
            let heads = try reader.itemHeads(after: RowID(rawValue: progress.reached.id), limit: pageSize)
            for summary in heads { progress.sum += try digest.sum(summary) }
            // A short page is the last one: waiting for an empty one, a pass would run after a steady writer for ever.
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
