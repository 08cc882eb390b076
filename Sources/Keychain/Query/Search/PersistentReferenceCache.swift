import Synchronization

/// The rows of items whose persistent references were returned. Rows have no lookup tag for references, so that every
/// item would have to be opened otherwise.
///
/// The number of entries is bounded. An entry is verified before it is used. A lock removes all, because references are
/// attributes (contract, H2).
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
