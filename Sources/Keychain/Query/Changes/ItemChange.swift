/// The change of one item by a call, by which other views of the item are updated (contract, F10).
///
/// Created directories are those of `new`. Directories are never removed.
package struct ItemChange: Hashable, Sendable {
    package let row: RowID
    /// The previous primary key; nil for an added item, and for a deleted item that was damaged.
    package let old: ItemPrimaryKey?
    /// The new primary key; nil for a deleted item.
    package let new: ItemPrimaryKey?
}
