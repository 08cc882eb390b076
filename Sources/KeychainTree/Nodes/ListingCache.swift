import FileSystemCore
import Keychain
import Synchronization

/// A cache of the entries of directories as listings show them: `ls -l` of a directory that was listed before decrypts
/// nothing. A listing is invalidated at the end of a transaction that has changed an item of its directory.
///
/// Entries are gathered during a listing, in several calls. Only complete listings are cached, and only while the
/// keychain is unlocked.
final class ListingCache: Sendable {
    /// An item, as READDIRPLUS returns it.
    struct Entry: Sendable {
        let row: RowID
        let name: EntryName
        let attributes: Attributes
    }

    /// A listing in progress.
    private struct Gathering {
        let directory: RowID
        /// Distinguishes the listings of one handle, because a listing can be restarted.
        let serial: Int
        var entries: [Entry] = []

        var last: RowID { entries.last?.row ?? .none }
    }

    private struct State {
        var lastSerial = 0
        var listings: [RowID: [Entry]] = [:]
        var listedCount = 0
        /// The listings in progress whose directory has not changed since their start.
        var gathered: [HandleID: Gathering] = [:]
        var gatheredCount = 0
        /// The directories with more entries than ``limit``.
        var large: Set<RowID> = []

        @discardableResult
        mutating func removeGathering(_ handle: HandleID) -> Gathering? {
            let gathering = gathered.removeValue(forKey: handle)
            gatheredCount -= gathering?.entries.count ?? 0
            return gathering
        }

        mutating func beginGathering(_ handle: HandleID, _ directory: RowID) {
            removeGathering(handle)
            lastSerial += 1
            gathered[handle] = Gathering(directory: directory, serial: lastSerial)
        }

        mutating func removeListing(_ directory: RowID) {
            listedCount -= listings.removeValue(forKey: directory)?.count ?? 0
        }

        /// Invalidates the listings of a directory in which an item has changed.
        mutating func invalidate(_ directory: RowID) {
            removeListing(directory)
            for (handle, gathering) in gathered where gathering.directory == directory { removeGathering(handle) }
        }

        mutating func keep(_ listing: [Entry], of directory: RowID) {
            removeListing(directory)
            if listedCount + listing.count > limit { (listings, listedCount) = ([:], 0) }
            listedCount += listing.count
            listings[directory] = listing
        }

        mutating func hold(_ gathering: Gathering, _ handle: HandleID) {
            let count = gathering.entries.count
            if gatheredCount + count > limit { (gathered, gatheredCount) = ([:], 0) }
            gatheredCount += count
            gathered[handle] = gathering
        }
    }

    /// The maximum number of entries of a cached listing and of all together, each of about 150 bytes; also of listings
    /// in progress.
    static let limit = 131_072
    private let state = Mutex(State())

    /// Returns the listing of a directory if it is unchanged.
    func listing(of directory: RowID) -> [Entry]? { state.withLock { $0.listings[directory] } }

    /// Whether the listing of a directory is cached and contains that entry.
    func contains(_ entry: Entry, in directory: RowID) -> Bool {
        state.withLock { state in
            guard let found = state.listings[directory]?.following(RowID(rawValue: entry.row.rawValue - 1)).first else {
                return false
            }
            return found.row == entry.row && found.attributes == entry.attributes
        }
    }

    func noteLarge(_ directory: RowID) {
        state.withLock { _ = $0.large.insert(directory) }
    }

    /// A part of a listing in progress: the entries after row `after` in a directory.
    struct Part {
        let handle: HandleID
        let directory: RowID
        fileprivate let after: RowID
        fileprivate let serial: Int
        var entries: [Entry] = []
    }

    /// Begins a part, before its first row is read. Returns nil if the listing cannot be cached: the directory is
    /// large, or has changed since the start of the listing, or the part does not continue the previous one.
    func begin(_ handle: HandleID, _ directory: RowID, after: RowID) -> Part? {
        state.withLock { state in
            guard !state.large.contains(directory) else { return nil }
            if after == .none { state.beginGathering(handle, directory) }
            guard let gathering = state.gathered[handle], gathering.last == after else { return nil }
            return Part(handle: handle, directory: directory, after: after, serial: gathering.serial)
        }
    }

    /// Adds a part to the previous ones, and caches the listing after its last part, unless the directory has changed
    /// in the meantime.
    ///
    /// - Parameter isUnlocked: Called while no other thread can drop the listing.
    func gather(_ part: consuming Part, isLast: Bool, isUnlocked: () -> Bool) {
        state.withLock { state in
            guard var gathering = state.removeGathering(part.handle),
                gathering.serial == part.serial, gathering.last == part.after, isUnlocked()
            else { return }
            gathering.entries += part.entries
            if gathering.entries.count > Self.limit {
                state.large.insert(part.directory)
            } else if isLast {
                state.keep(gathering.entries, of: part.directory)
            } else {
                state.hold(gathering, part.handle)
            }
        }
    }

    /// The number of entries of listings in progress.
    var gatheredCount: Int { state.withLock { $0.gatheredCount } }

    /// Drops a listing in progress.
    func abandon(_ handle: HandleID) {
        state.withLock { _ = $0.removeGathering(handle) }
    }

    /// Invalidates the rows that a transaction has changed.
    func invalidate(_ rows: ChangedRows) {
        guard !rows.areIncomplete else { return drop() }
        state.withLock { state in
            guard !state.listings.isEmpty || !state.gathered.isEmpty else { return }
            rows.forEachListing { state.invalidate($0) }
        }
    }

    /// Removes all listings: names must not remain in memory after a lock (H2).
    func drop() {
        state.withLock { $0 = State(lastSerial: $0.lastSerial) }
    }
}

extension [ListingCache.Entry] {
    /// Returns the entries after `row`; entries are in the order of rows.
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
