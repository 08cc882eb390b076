internal import Foundation
internal import LinuxSupport
internal import SystemPackage

/// The files next to a store that SQLite opens because of their names: its write-ahead log and a rollback journal.
///
/// SQLite opens them without checking their type, so that a FIFO blocks it forever. It plays back any rollback journal,
/// which overwrites the store with pages of another database. See <https://www.sqlite.org/howtocorrupt.html>.
package struct StoreNeighbors: Sendable {
    /// The path of the store, without symbolic links.
    private let store: String

    /// - Parameter path: The path of the store. Symbolic links are followed, as SQLite does.
    package init(of path: String) {
        store = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    }

    /// - Parameter store: The path of the store, without symbolic links.
    init(of store: FilePath) { self.store = store.string }

    /// Requires that SQLite opens no other file next to the store than a log that is a regular file.
    ///
    /// This format uses a write-ahead log, so a rollback journal next to a store is never its own.
    ///
    /// - Throws: ``StoreOpenError/foreignFile(path:)``.
    package func requirePlain() throws(StoreOpenError) {
        let (log, journal) = (SQLiteFileNames.log(of: store), SQLiteFileNames.journal(of: store))
        if let type = try type(of: log), type != .regular { throw .foreignFile(path: log) }
        guard try type(of: journal) == nil else { throw .foreignFile(path: journal) }
    }

    /// Requires that a store can be created at the path: neither a log nor a journal exists.
    ///
    /// - Throws: ``StoreOpenError/leftoverFile(path:)``.
    package func requireNone() throws(StoreOpenError) {
        for suffix in SQLiteFileNames.suffixes {
            guard try type(of: store + suffix) == nil else { throw .leftoverFile(path: store + suffix) }
        }
    }

    /// Returns the type of a file; nil if it does not exist, which includes a name that is too long for the file
    /// system.
    private func type(of path: String) throws(StoreOpenError) -> FileType? {
        do throws(StoreOpenError) {
            return try FileSystemCalls.stat(FilePath(path), follow: false).type
        } catch .notFound, .io(-Errno.fileNameTooLong.rawValue) {
            return nil
        }
    }
}
