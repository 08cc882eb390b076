import FileSystemCore
import Keychain
import Synchronization
import SystemPackage

/// What a listing shows while the keychain is not unlocked: what can be used, and then ENOKEY for the rest (L1).
extension KeychainFileSystem {
    /// Whether a directory stands in the listing of the one that it lies in: while unlocked, or while something in it can
    /// be used. A container is no entry of any listing.
    func isShown(_ directory: Directory) throws(Errno) -> Bool {
        guard keychain.keys.state != .unlocked else { return true }
        if case .container = directory.key { return true }
        if try mapped({ () throws(KeychainFault) in try keychain.holdsAvailableItem(directory.id) }) { return true }
        let uncommitted = table.withLock { $0.service(directory.id) }?.pendingFiles(after: .none) ?? []
        return uncommitted.contains { entry in
            entry.file.state.withLock { $0.item.map { keychain.keys.isAvailable($0.protection) } ?? false }
        }
    }

    /// The container of a class; nil if nothing has been made in it.
    ///
    /// Before the first unlock one without an Always item is not found. Then it may be any of the rows that lie where it
    /// would: ENOKEY, unless all of them can be read.
    func container(of classDirectory: ClassDirectory) throws(Errno) -> Directory? {
        do {
            return try stable(classDirectory) { key throws(Errno) in
                try mapped { () throws(KeychainFault) in try keychain.container(key) }
            }
        } catch .noKey {
            let isHidden = try !forEachDirectory(in: classDirectory.group.row) { entry in
                if case .unavailable = entry { false } else { true }
            }
            guard isHidden else { return nil }
            throw .noKey
        }
    }

    /// ENOKEY for a directory of directories of which none can be shown (L1).
    func checkListable(rowsOf parent: RowID) throws(Errno) {
        guard keychain.keys.state != .unlocked else { return }
        var isAnythingLeftOut = false
        let isAnythingShown = try !forEachDirectory(in: parent) { entry throws(Errno) in
            switch entry {
            case .damaged: return false
            case .foreign: return true
            case .available(let directory):
                if case .container = directory.key { return true }
                if try isShown(directory) { return false }
            case .unavailable: break
            }
            isAnythingLeftOut = true
            return true
        }
        if isAnythingLeftOut, !isAnythingShown { throw .noKey }
    }

    /// ENOKEY for a service directory with nothing in it but what is not available (L1).
    func checkListable(_ directory: ServiceDirectory) throws(Errno) {
        guard keychain.keys.state != .unlocked else { return }
        guard directory.pending.withLock({ $0.rows.isEmpty }) else { return }
        var after = RowID.none
        var isAnythingLeftOut = false
        while true {
            let page = try mapped { () throws(KeychainFault) in
                try keychain.items(in: directory.row, after: after, limit: Self.pageSize)
            }
            for entry in page {
                switch entry {
                case .available: return
                case .foreign: continue
                case .unavailable, .damaged: isAnythingLeftOut = true
                }
            }
            guard let last = page.last else { break }
            after = last.id
        }
        if isAnythingLeftOut { throw .noKey }
    }

    /// Calls `body` with each directory of a row until it says false; returns whether it never did.
    @discardableResult
    func forEachDirectory(
        in parent: RowID, _ body: (ListingEntry<Directory>) throws(Errno) -> Bool
    ) throws(Errno) -> Bool {
        var after = RowID.none
        while true {
            let page = try mapped { () throws(KeychainFault) in
                try keychain.directories(in: parent, after: after, limit: Self.pageSize)
            }
            for entry in page where try !body(entry) { return false }
            guard let last = page.last else { return true }
            after = last.id
        }
    }
}
