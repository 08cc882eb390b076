/// A table whose rows are found through indexes.
package enum IndexedTable: CaseIterable, Sendable {
    case directory, item, past
    /// Its rows count as those of their item.
    case itemKey
}

/// A page of rows that were compared with the indexes.
package struct IndexedRows: Sendable {
    /// Rows whose entry in at least one index is missing or, in an index that is used for listings, cannot be read.
    package let unindexed: [RowID]
    /// The last row of the page; nil after the last page.
    package let last: RowID?
    /// Whether an index could not be read at the expected position of a row.
    package let isIncomplete: Bool

    package init(unindexed: [RowID], last: RowID?, isIncomplete: Bool = false) {
        (self.unindexed, self.last, self.isIncomplete) = (unindexed, last, isIncomplete)
    }
}

/// A position in the entries of all indexes.
package struct IndexPosition: Hashable, Sendable {
    /// The key of an entry.
    package enum Key: Hashable, Sendable {
        case number(Int64)
        case tag([UInt8])
    }

    /// The entry that was read last.
    package struct Entry: Hashable, Sendable {
        package let key: Key
        package let row: RowID

        package init(key: Key, row: RowID) {
            (self.key, self.row) = (key, row)
        }
    }

    /// The index, counted from 0 in the order of the store.
    package let index: Int
    /// The entry that was read last; nil at the start of the index.
    package let entry: Entry?

    package init(index: Int, entry: Entry? = nil) {
        (self.index, self.entry) = (index, entry)
    }

    package static let start = IndexPosition(index: 0)
}

/// A page of index entries that were compared with their rows.
package struct IndexEntries: Sendable {
    /// The number of entries that refer to no row or to a row with another key, or that are out of order.
    package let wrongEntries: Int
    /// The position of the next page; nil after the last page of the last index.
    package let next: IndexPosition?

    package init(wrongEntries: Int, next: IndexPosition?) {
        (self.wrongEntries, self.next) = (wrongEntries, next)
    }
}
