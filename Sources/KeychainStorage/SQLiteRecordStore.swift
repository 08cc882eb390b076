internal import GRDB
package import Keychain
internal import Synchronization

/// The sealed records of one keychain in an SQLite database (WAL, `synchronous=FULL`, locked for this process).
///
/// Thread-safe. Concurrent changes share one transaction, and with it the wait for the disk; reads do not wait for it.
package final class SQLiteRecordStore: RecordStore {
    package enum Access: Sendable {
        case readWrite
        /// For reading only: changes no byte on the medium. Refused while another process writes, and after an
        /// interrupted use.
        case readOnly
    }

    package let isReadOnly: Bool
    /// The connection; nil after `close`. Replaced when a new store gets its name.
    private let connection: Mutex<WriterConnection?>
    private let onExternalChange = Mutex<(@Sendable () -> Void)?>(nil)

    init(_ connection: WriterConnection, isReadOnly: Bool) {
        self.connection = Mutex(connection)
        self.isReadOnly = isReadOnly
    }

    /// Opens the keychain at `path`. Follows symbolic links. An error leaves everything unchanged.
    package static func open(
        path: String, access: Access = .readWrite, refusesOtherWriters: Bool = false
    ) throws(StoreOpenError) -> SQLiteRecordStore {
        let file = try StoreFile(path: path)
        if refusesOtherWriters { try file.requireNoOtherWriter() }
        switch access {
        case .readWrite: return SQLiteRecordStore(try WriterConnection.openForWriting(file), isReadOnly: false)
        case .readOnly: return SQLiteRecordStore(try WriterConnection.openForReading(file), isReadOnly: true)
        }
    }

    /// Creates a keychain at `path`, mode 0600. Creates missing directories with mode 0700.
    ///
    /// `initialize` fills the store that it receives, and may retain it: that store is the keychain at `path`
    /// afterwards. It is written under a temporary name in the same directory, so that a crash leaves nothing at
    /// `path`.
    ///
    /// - Throws: The error of `initialize` as ``StoreOpenError/initialization(_:)``; a full disk as such.
    package static func create<Result>(
        at path: String, initialize: (SQLiteRecordStore) throws(KeychainFault) -> Result
    ) throws(StoreOpenError) -> Result {
        let temporaryFile = try TemporaryStoreFile(for: path)
        defer { temporaryFile.remove() }
        let store = SQLiteRecordStore(try WriterConnection.create(try temporaryFile.file), isReadOnly: false)
        do throws(StoreOpenError) {
            let result = try store.fill(initialize)
            try store.replaceConnection { () throws(StoreOpenError) in
                try temporaryFile.install()
                return try WriterConnection.openForWriting(try StoreFile(path: path))
            }
            return result
        } catch {
            store.close()
            throw error
        }
    }

    package var isInPlace: Bool { connection.withLock { $0 }?.isInPlace ?? false }

    package func read<Result>(
        _ body: (any RecordReader) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result {
        try current().read { db throws(KeychainFault) in try body(SQLiteRecords(db: db)) }
    }

    package func readExclusively<Result>(
        _ body: (any RecordReader) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result {
        try current().perform { db throws(KeychainFault) in try body(SQLiteRecords(db: db)) }
    }

    package func awaitReads() { connection.withLock { $0 }?.awaitReads() }

    package func write<Result>(
        ending: (any TransactionEnding)?, _ body: (any RecordWriter) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result {
        let connection = try current()
        guard !isReadOnly else { throw .readOnly }
        guard connection.isInPlace else { throw .notAvailable }
        return try connection.write(ending: ending) { records throws(KeychainFault) in try body(records) }
    }

    package func watchExternalChanges(_ body: @escaping @Sendable () -> Void) {
        onExternalChange.withLock { $0 = body }
        connection.withLock { $0 }?.onExternalChange.withLock { $0 = body }
    }

    package func findExternalChanges() throws(KeychainFault) {
        let connection = try current()
        try connection.perform { db throws(KeychainFault) in connection.findExternalChanges(isThorough: true, db) }
    }

    package func eraseLogSoon() {
        guard !isReadOnly else { return }
        connection.withLock { $0 }?.eraser.eraseSoon()
    }

    package var logBytes: Int { connection.withLock { $0 }?.logBytes ?? 0 }

    package var freeBytes: Int {
        let space = try? current().perform { db throws(KeychainFault) in
            try KeychainFault.mapping(db) { try FileSpace(of: db) }
        }
        return space?.freeBytes ?? 0
    }

    package func truncateLog() throws(KeychainFault) { try checkpoint() }

    package func verifyStructure() throws(KeychainFault) -> Int {
        try current().perform { db throws(KeychainFault) in
            do throws(KeychainFault) {
                return try KeychainFault.mapping(db) { try StructureCheck.faults(in: db) }
            } catch .decode {
                // The damage prevents a complete check.
                return 1
            }
        }
    }

    /// Returns the number of rows that are missing in an index plus the number of wrong index entries.
    package func indexFaults() throws(KeychainFault) -> Int {
        try read { (reader) throws(KeychainFault) in try reader.compareIndexes().count }
    }

    /// Moves the write-ahead log into the database and truncates it. Before that, the log contains deleted and
    /// overwritten data in spite of secure_delete.
    package func checkpoint() throws(KeychainFault) {
        guard !isReadOnly else { return }
        try current().erase()
    }

    /// Moves the log into the database and continues without a log: for a file that is about to be replaced.
    package func removeLog() throws(KeychainFault) {
        let connection = try current()
        try connection.perform { db throws(KeychainFault) in
            // No other connection may have the log open.
            connection.snapshots.close()
            try KeychainFault.mapping(db) { try Compaction.removeLog(db) }
        }
    }

    /// Closes the store after running calls. Must not be called in the body of one.
    package func close() {
        // A failed checkpoint loses nothing: the log remains, and the next use continues with it.
        takeConnection()?.close(after: isReadOnly ? nil : { db in _ = try? db.checkpoint(.truncate) })
    }

    /// Returns the connection for its last use. Later calls throw `notAvailable`.
    func takeConnection() -> WriterConnection? {
        connection.withLock { connection in
            defer { connection = nil }
            return connection
        }
    }

    private func fill<Result>(
        _ initialize: (SQLiteRecordStore) throws(KeychainFault) -> Result
    ) throws(StoreOpenError) -> Result {
        do throws(KeychainFault) {
            let result = try initialize(self)
            try checkpoint()
            return result
        } catch .diskFull {
            throw .diskFull
        } catch {
            throw .initialization(error)
        }
    }

    /// Continues with the same records in the database that `reopen` opens.
    private func replaceConnection(_ reopen: () throws(StoreOpenError) -> WriterConnection) throws(StoreOpenError) {
        close()
        let new = try reopen()
        onExternalChange.withLock { body in new.onExternalChange.withLock { $0 = body } }
        connection.withLock { $0 = new }
    }

    func current() throws(KeychainFault) -> WriterConnection {
        guard let connection = connection.withLock({ $0 }) else { throw .notAvailable }
        return connection
    }
}
