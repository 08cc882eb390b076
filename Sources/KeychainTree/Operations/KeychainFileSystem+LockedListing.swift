import FileSystemCore
import Keychain
import Synchronization
import SystemPackage

/// Listings while the keychain is not unlocked: the available entries, and then ENOKEY for the others (L1).
extension KeychainFileSystem {
    /// Whether the listing of the parent shows a directory: while unlocked, or while an item in it is available.
    /// Containers are not shown.
    func isShown(_ directory: Directory) throws(Errno) -> Bool {
        guard keychain.keys.state != .unlocked else { return true }
        if directory.key.isContainer { return true }
        if try mapped({ () throws(KeychainFault) in try keychain.holdsAvailableItem(directory.id) }) { return true }
        let uncommitted = table.withLock { $0.service(directory.id) }?.pendingFiles(after: .none) ?? []
        return uncommitted.contains { entry in
            withState(of: entry.file) { $0.item.map { keychain.keys.isAvailable($0.protection) } ?? false }
        }
    }

    /// Returns a container; nil if it does not exist.
    ///
    /// Before the first unlock a container without an Always item cannot be found. It may be any unreadable row of that
    /// parent: ENOKEY, unless all of them can be read.
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

    /// Requires that at least one directory of a parent can be shown (L1).
    ///
    /// - Throws: ENOKEY.
    func checkListable(rowsOf parent: RowID) throws(Errno) {
        guard keychain.keys.state != .unlocked else { return }
        var isAnythingLeftOut = false
        let isAnythingShown = try !forEachDirectory(in: parent) { entry throws(Errno) in
            switch entry {
            case .damaged: return false
            case .foreign: return true
            case .available(let directory):
                if directory.key.isContainer { return true }
                if try isShown(directory) { return false }
            case .unavailable: break
            }
            isAnythingLeftOut = true
            return true
        }
        if isAnythingLeftOut, !isAnythingShown { throw .noKey }
    }

    /// Requires that a service directory does not contain only unavailable items (L1).
    ///
    /// - Throws: ENOKEY.
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

    /// Calls `body` with each directory of a row until it returns false. Returns whether it never did.
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
