/// The sums of all rows of a store: of the rows that an unlock reads completely, which have to be right before their keys
/// are used, and of the others, which are verified in the background (contract, S2).
package struct StoreSums: Hashable, Sendable {
    /// The rows of store, slots, devices, class keys and user keys.
    package var keys = DigestSum()
    /// The rows of directories, items, past values and item keys.
    package var rows = DigestSum()

    package init() {}

    /// The number of all rows.
    var count: Int64 { keys.count &+ rows.count }

    mutating func add(_ sum: DigestSum, of table: RowTable) {
        if table.isOfKeys { keys += sum } else { rows += sum }
    }

    package static func += (sums: inout StoreSums, other: StoreSums) {
        sums.keys += other.keys
        sums.rows += other.rows
    }
}
