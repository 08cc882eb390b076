/// The number of a row in the store: readable in the file, rising with the order of creation, never used twice.
///
/// Items and directories share one sequence, so that it can also serve as inode number.
package struct RowID: RawRepresentable, Hashable, Comparable, Sendable {
    package var rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// No row: the parent of a container, and where listings begin.
    package static let none = RowID(rawValue: 0)

    /// No row has this number, or a higher one: what says so is damaged.
    package static let limit = RowID(rawValue: 1 << 62)
    /// From here on no number was ever given out, but where a damaged row has taken the ones below: they do not count for what
    /// numbers new rows get.
    package static let lastUsual = RowID(rawValue: 1 << 61)
    /// So many numbers are free after the one that new rows follow.
    package static let tableCapacity: Int64 = 1 << 32

    package static func < (a: RowID, b: RowID) -> Bool { a.rawValue < b.rawValue }
}
