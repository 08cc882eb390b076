/// The rows that a transaction has changed, which caches must no longer return.
package struct ChangedRows: Sendable {
    private let difference: DigestDelta

    init(_ difference: DigestDelta) { self.difference = difference }

    /// Any row may have changed.
    static let all: ChangedRows = {
        var difference = DigestDelta()
        difference.noteUnknown()
        return ChangedRows(difference)
    }()

    /// Calls `body` with each item that was added, changed or removed, with some of them repeatedly.
    package func forEachItem(_ body: (RowID) -> Void) {
        for change in difference.changes where change.position.table == .item {
            body(RowID(rawValue: change.position.id))
        }
    }

    /// Calls `body` with each directory in which an item was added, changed or removed, which includes the source of a
    /// move. With some directories repeatedly.
    package func forEachListing(_ body: (RowID) -> Void) {
        for change in difference.changes where change.position.table == .item {
            let (old, new) = change.directories
            if old != .none { body(old) }
            if new != .none, new != old { body(new) }
        }
    }

    /// The directories that were added, changed or removed.
    package var directories: Set<RowID> { difference.changedDirectories }

    /// Whether any other row may have changed, too: another program has written, or a row could not be read before it
    /// was replaced.
    package var areIncomplete: Bool { difference.isIncomplete }
}
