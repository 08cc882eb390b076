/// A table whose rows are found through indexes.
package enum IndexedTable: CaseIterable, Sendable {
    case directory, item
}

/// A page of rows that were compared with the indexes.
package struct IndexedRows: Sendable {
    /// Those to which at least one index that should does not lead.
    package let unindexed: [RowID]
    /// The last row of the page; nil after the last page.
    package let last: RowID?
    /// Whether an index could not be read where one of them should be.
    package let isIncomplete: Bool

    package init(unindexed: [RowID], last: RowID?, isIncomplete: Bool = false) {
        (self.unindexed, self.last, self.isIncomplete) = (unindexed, last, isIncomplete)
    }
}

/// Where a walk through the entries of all indexes stands.
package struct IndexPosition: Hashable, Sendable {
    /// What an index sorts its entries by.
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
    /// Nil before the first entry.
    package let entry: Entry?

    package init(index: Int, entry: Entry? = nil) {
        (self.index, self.entry) = (index, entry)
    }

    package static let start = IndexPosition(index: 0)
}

/// A page of index entries that were compared with their rows.
package struct IndexEntries: Sendable {
    /// How many lead to no row or to one of another key, or have another place than their key.
    package let strays: Int
    /// Where to go on; nil after the last page of the last index.
    package let next: IndexPosition?

    package init(strays: Int, next: IndexPosition?) {
        (self.strays, self.next) = (strays, next)
    }
}
