/// What a call has changed of one item: whoever shows items elsewhere is to be told (contract, F10).
///
/// Directories that were made on the way are those of `new`; none is ever removed.
package struct ItemChange: Hashable, Sendable {
    package let row: RowID
    /// Nil for an item that was added, and for one that was damaged and is gone.
    package let old: ItemPrimaryKey?
    /// Nil for an item that was deleted.
    package let new: ItemPrimaryKey?
}
