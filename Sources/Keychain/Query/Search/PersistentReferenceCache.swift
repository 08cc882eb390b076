import Synchronization

/// Where items were whose persistent references were handed out: rows have no tag for them, so that without a hint every
/// item has to be opened.
///
/// Bounded. A hint is tried, never believed. A lock forgets them all: references are attributes (contract, H2).
final class PersistentReferenceCache: Sendable {
    private let rows = Mutex<[[UInt8]: RowID]>([:])
    private static let limit = 4096

    func row(of reference: [UInt8]) -> RowID? { rows.withLock { $0[reference] } }

    func note(_ reference: [UInt8], _ row: RowID) {
        rows.withLock { rows in
            if rows.count >= Self.limit { rows = [:] }
            rows[reference] = row
        }
    }

    func forget() { rows.withLock { $0 = [:] } }
}
