import FileSystemCore
import Keychain
import Synchronization

/// The entries of small directories as listings show them, as long as nothing has been committed since: `ls -l` of a
/// directory that was listed before decrypts nothing.
///
/// Only listings that show everything are kept, and only while the keychain is unlocked.
final class ListingCache: Sendable {
    /// One item, as READDIRPLUS tells it.
    struct Entry: Sendable {
        let row: RowID
        let name: EntryName
        let attributes: Attributes
    }

    private struct State {
        var commit = 0
        var listings: [RowID: [Entry]] = [:]
        var entryCount = 0
        /// Directories that had more entries than ``limit``.
        var large: Set<RowID> = []
    }

    /// The longest listing that is kept, in entries.
    static let limit = 4096
    /// All listings together, in entries.
    private static let capacity = 2 * limit
    private let state = Mutex(State())

    /// The listing of a directory, if it was made since commit number `commit`.
    func listing(of directory: RowID, since commit: Int) -> [Entry]? {
        state.withLock { $0.commit == commit ? $0.listings[directory] : nil }
    }

    /// Whether it may be worth while to make one.
    func isSmall(_ directory: RowID) -> Bool { state.withLock { !$0.large.contains(directory) } }

    func noteLarge(_ directory: RowID) {
        state.withLock { _ = $0.large.insert(directory) }
    }

    /// `commit` is what the number was before the first row was read; `isUnlocked` is asked when nobody can drop.
    func keep(_ listing: [Entry], of directory: RowID, since commit: Int, isUnlocked: () -> Bool) {
        state.withLock { state in
            guard commit >= state.commit, isUnlocked() else { return }
            if commit > state.commit || state.entryCount + listing.count > Self.capacity {
                state = State(commit: commit, large: state.large)
            }
            state.entryCount += listing.count - (state.listings[directory]?.count ?? 0)
            state.listings[directory] = listing
        }
    }

    /// After a lock: names are not to outlive it (H2).
    func drop() {
        state.withLock { $0 = State(commit: $0.commit) }
    }
}

extension [ListingCache.Entry] {
    /// What follows `row`; entries are in the order of rows.
    func following(_ row: RowID) -> ArraySlice<ListingCache.Entry> {
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = (low + high) / 2
            if self[middle].row <= row { low = middle + 1 } else { high = middle }
        }
        return self[low...]
    }
}
