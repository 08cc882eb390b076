import FileSystemCore
import Keychain
import Synchronization

/// The entries of directories as listings show them, as long as nothing has been committed since: `ls -l` of a directory that
/// was listed before decrypts nothing.
///
/// They are gathered while a listing goes through a directory. Only listings that show everything are kept, and only while the
/// keychain is unlocked.
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
        var listedCount = 0
        /// Listings that are under way, from their beginning on.
        var gathered: [HandleID: [Entry]] = [:]
        var gatheredCount = 0
        /// Directories that had more entries than ``limit``.
        var large: Set<RowID> = []

        /// Takes what a listing under way has come by.
        mutating func takeGathered(by handle: HandleID) -> [Entry] {
            let entries = gathered.removeValue(forKey: handle) ?? []
            gatheredCount -= entries.count
            return entries
        }
    }

    /// The longest listing that is kept, and all of them together, in entries of about 150 bytes; those under way likewise.
    static let limit = 131_072
    private let state = Mutex(State())

    /// The listing of a directory, if it was made since commit number `commit`.
    func listing(of directory: RowID, since commit: Int) -> [Entry]? {
        state.withLock { $0.commit == commit ? $0.listings[directory] : nil }
    }

    /// Whether it may be worth while to gather one.
    func isSmall(_ directory: RowID) -> Bool { state.withLock { !$0.large.contains(directory) } }

    func noteLarge(_ directory: RowID) {
        state.withLock { _ = $0.large.insert(directory) }
    }

    /// One part of a listing: what follows row `after` in a directory.
    struct Part {
        let handle: HandleID
        let directory: RowID
        let after: RowID
        /// What the number was before the first row was read.
        let commit: Int
        var entries: [Entry] = []
    }

    /// Adds a part to those before it, and keeps the listing if that was the last one.
    ///
    /// Nothing comes of a listing that has not begun at the beginning, or during which something was committed. `isUnlocked` is
    /// asked when nobody can drop.
    func gather(_ part: consuming Part, isLast: Bool, isUnlocked: () -> Bool) {
        state.withLock { state in
            if part.commit > state.commit { state = State(commit: part.commit, large: state.large) }
            var entries = state.takeGathered(by: part.handle)
            if part.after == .none { entries = [] }
            guard part.commit == state.commit, entries.last?.row ?? .none == part.after, isUnlocked() else { return }
            entries += part.entries
            guard entries.count <= Self.limit else {
                state.large.insert(part.directory)
                return
            }
            if isLast {
                Self.keep(entries, of: part.directory, &state)
            } else {
                Self.hold(entries, part.handle, &state)
            }
        }
    }

    private static func keep(_ listing: [Entry], of directory: RowID, _ state: inout State) {
        if state.listedCount + listing.count > limit { (state.listings, state.listedCount) = ([:], 0) }
        state.listedCount += listing.count - (state.listings[directory]?.count ?? 0)
        state.listings[directory] = listing
    }

    private static func hold(_ entries: [Entry], _ handle: HandleID, _ state: inout State) {
        if state.gatheredCount + entries.count > limit { (state.gathered, state.gatheredCount) = ([:], 0) }
        state.gatheredCount += entries.count
        state.gathered[handle] = entries
    }

    /// Of listings that are under way, in entries.
    var gatheredCount: Int { state.withLock { $0.gatheredCount } }

    /// Nothing comes of a listing.
    func giveUp(_ handle: HandleID) {
        state.withLock { _ = $0.takeGathered(by: handle) }
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
