internal import Foundation
internal import GRDB
internal import Glibc
internal import LinuxSupport
internal import SystemPackage

/// Replaces the file of an open database with a copy without free pages.
///
/// The connection keeps SQLite's lock on the old file until the copy has its name, and writes nothing to it after the
/// copy, so that another process finds the old file in use or opens the new one. A crash leaves the complete old or the
/// complete new file. All rows are copied, so that the commit number and the digest stay the same.
struct Compaction {
    /// The disk space in bytes that remains available for other writers.
    private static let reserve = 1 << 20

    let connection: WriterConnection
    let policy: CompactionPolicy
    let limit: TimeLimit

    /// Replaces the file.
    ///
    /// - Parameter db: The database of the connection, which no other thread uses, and which is closed afterwards.
    /// - Returns: The reduction of the file's size in bytes; 0 if the policy does not apply.
    /// - Throws: ``StoreOpenError``, with the file unchanged; the errno of fsync(2) of the directory, if the new name
    ///   may not be durable.
    func run(_ db: Database) throws -> Int {
        let space = try FileSpace(of: db)
        guard policy.applies(to: space) else { return 0 }
        guard connection.isInPlace else { throw StoreOpenError.notFound }
        try StoreFile(path: connection.path).requireOneName()
        // A copy contains only the rows that the trees reach. In a damaged file, `check --repair` finds others.
        guard try StructureCheck.faults(in: db) == 0 else { throw StoreOpenError.damaged }
        try Self.removeLog(db)
        let copy = try CompactCopy(of: FilePath(connection.path))
        guard try copy.availableBytes() >= space.bytes - space.freeBytes + Self.reserve else {
            throw StoreOpenError.diskFull
        }
        try db.execute(sql: "VACUUM INTO ?", arguments: [copy.path.string])
        guard !limit.isExceeded else { throw DatabaseError(resultCode: .SQLITE_INTERRUPT) }
        try copy.prepare()
        guard try connection.isNamed() else { throw StoreOpenError.notFound }
        let size = try copy.byteCount()
        // Empty if another process has replaced the copy.
        guard size > 0 else { throw StoreOpenError.notFound }
        guard size < space.bytes else { return 0 }
        try copy.replaceOriginal()
        return space.bytes - size
    }

    /// Moves the log into the database, and continues without a log.
    ///
    /// SQLite removes the log's name when it closes the file; at that time, the name may belong to the log of another
    /// file.
    ///
    /// - Throws: SQLITE_BUSY while another connection reads the log.
    static func removeLog(_ db: Database) throws {
        // For a change of the header alone, which is in one sector. A journal on disk would remain like the log.
        guard try String.fetchOne(db, sql: "PRAGMA journal_mode = MEMORY") == "memory" else {
            throw DatabaseError(resultCode: .SQLITE_BUSY)
        }
    }
}
