/// The number of a row in the store: readable in the file, rising with the order of creation, never used twice.
///
/// Items and directories share one sequence, so that it can also serve as inode number.
package struct RowID: RawRepresentable, Hashable, Comparable, Sendable {
    package var rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// No row: the parent of a container, and where listings begin.
    package static let none = RowID(rawValue: 0)

    package static func < (a: RowID, b: RowID) -> Bool { a.rawValue < b.rawValue }
}
