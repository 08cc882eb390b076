/// The number of a row in the store: readable in the file, ascending in the order of creation, never reused.
///
/// Items, directories, past values and long secrets share one sequence, so that it also serves as inode number.
package struct RowID: RawRepresentable, Hashable, Comparable, Sendable {
    package var rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// The first number of rows. Lower numbers are for other entries of the tree.
    package static let first = RowID(rawValue: 100)
    /// No row: the parent of a container, and the start of listings.
    package static let none = RowID(rawValue: 0)

    /// The upper bound of row numbers. A row with this number or a higher one is damaged.
    package static let limit = RowID(rawValue: 1 << 62)
    /// The upper bound of assigned numbers, unless damaged rows have occupied the ones below. Higher ones do not affect
    /// the numbers of new rows.
    package static let lastUsual = RowID(rawValue: 1 << 61)
    /// The minimum of unused numbers after the number that new rows follow.
    package static let tableCapacity: Int64 = 1 << 32

    /// The next number, at most the limit.
    package var next: RowID { self < .limit ? RowID(rawValue: rawValue + 1) : .limit }

    package static func < (a: RowID, b: RowID) -> Bool { a.rawValue < b.rawValue }
}
