internal import Foundation
internal import GRDB
internal import Glibc
internal import Keychain
internal import LinuxSupport
internal import SQLiteRows
internal import Synchronization
internal import SystemPackage

/// An open database: the only connection to it that writes, used by one thread at a time.
final class WriterConnection: Sendable {
    private let queue: DatabaseQueue
    private let isOpen = Atomic(true)
    /// The lock on the connection. Acquired before `queue`, never within.
    let gate = Gate()
    /// A second connection for reads during a transaction. Closed for a store that is opened for reading only.
    let snapshots: SnapshotReader
    let eraser = LogEraser()
    let logPreallocation: Mutex<LogPreallocation>
    let logProgress = Mutex(LogProgress())
    let externalChanges: Mutex<ExternalChanges>
    /// Called after an external change, on the thread that detected it, which owns the lock.
    let onExternalChange = Mutex<(@Sendable () -> Void)?>(nil)
    private let file: FileIdentity
    /// The path of the file when it was opened, without symbolic links.
    let path: String
    /// The path of the write-ahead log. A string, because every commit uses it.
    let logPath: String
    /// The identity of the write-ahead log, which SQLite continues to use even if its name is removed.
    let log: Mutex<FileIdentity?>
    /// The descriptor of a store that was opened for reading only. Its flock(2) excludes writers.
    private let reader: FileDescriptor?

    private init(queue: DatabaseQueue, file: StoreFile, reader: FileDescriptor? = nil) {
        self.queue = queue
        self.file = file.identity
        path = file.path.string
        logPath = SQLiteFileNames.log(of: path)
        log = Mutex(FileStatus(at: logPath).map(FileIdentity.init))
        logPreallocation = Mutex(LogPreallocation(path: logPath))
        externalChanges = Mutex(ExternalChanges(path: path, logPath: logPath))
        self.reader = reader
        snapshots = SnapshotReader()
        if reader == nil {
            snapshots.begin { [weak self] in self?.openReader(file) }
        }
        eraser.begin { [weak self] () throws(KeychainFault) in try self?.erase() }
    }

    deinit { close() }

    /// Opens another connection to the same file and log, if the path still names both.
    private func openReader(_ file: StoreFile) -> DatabaseQueue? {
        // Locked, because a commit could otherwise take SQLite's access for another program's change.
        externalChanges.withLock { $0.whileOpening { connectReader(file) } }
    }

    private func connectReader(_ file: StoreFile) -> DatabaseQueue? {
        // SQLite searches for a journal at the first use of each connection.
        guard isInPlace, (try? file.neighbors.requirePlain()) != nil,
            let queue = try? Self.connect(file, .reader, prepare: { try Schema.verify($0) })
        else { return nil }
        guard isInPlace else {
            Self.close(queue)
            return nil
        }
        return queue
    }

    /// Closes a database of this process without starting a thread of Dispatch.
    static func close(_ queue: DatabaseQueue) {
        try? queue.close()
        RetiredQueues.shared.keep(queue)
    }

    /// Whether the path still names the open file, and its log is next to it. Otherwise changes would be lost. True if
    /// the disk reports an error, which the commit will detect.
    var isInPlace: Bool {
        do throws(Errno) {
            guard try isNamed() else { return false }
            return hasLog(try FileStatus.ofExisting(logPath).map(FileIdentity.init))
        } catch {
            return true
        }
    }

    /// Returns whether the path still names the open file.
    ///
    /// - Throws: The errno of statx(2).
    func isNamed() throws(Errno) -> Bool {
        try FileStatus.ofExisting(path).map(FileIdentity.init) == file
    }

    /// Whether `present` is the store's log, which does not exist before the first use.
    private func hasLog(_ present: FileIdentity?) -> Bool {
        log.withLock { known in
            if known == nil { known = present }
            return known == present
        }
    }

    /// Runs `body` while no other thread uses the connection and no transaction is open; within a `body` of the same
    /// thread, as a part of it.
    func perform<Result>(
        _ body: (Database) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result {
        guard !gate.isHeldByCurrentThread else { return try use(body) }
        gate.acquire()
        defer { gate.release() }
        return try use(body)
    }

    /// Runs `body` on committed data. During a transaction it does not wait, and does not see that transaction. Within
    /// a `body` of the same thread, runs as a part of it.
    func read<Result>(
        _ body: (Database) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result {
        if gate.isHeldByCurrentThread { return try use(body) }
        guard !snapshots.isUsedByCurrentThread, gate.tryAcquire() else {
            if let result = try snapshots.read(body) { return result }
            return try perform(body)
        }
        defer { gate.release() }
        return try use(body)
    }

    /// Blocks until every read has ended that may not see the last commit: on this connection, none is possible after it.
    func awaitReads() { snapshots.awaitReads() }

    /// Runs `body` with the database. Called by the lock's owner.
    ///
    /// GRDB's `read` would open a transaction, which takes twice as long as a lookup; no other thread can write at this
    /// time.
    func use<Result>(
        _ body: (Database) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result {
        let result: Swift.Result<Result, KeychainFault> = queue.unsafeReentrantRead { db in
            guard isOpen.load(ordering: .acquiring) else { return .failure(.notAvailable) }
            return Swift.Result { () throws(KeychainFault) in try body(db) }
        }
        return try result.get()
    }

    /// Interrupts the running statement, from any thread (sqlite3_interrupt).
    func interrupt() { queue.interrupt() }

    /// Closes the database after `last`, its final use. Later uses throw ``KeychainFault/notAvailable``. A second call
    /// has no effect.
    ///
    /// Waits for running calls. Must not be called in the body of one.
    func close(after last: ((Database) -> Void)? = nil) {
        eraser.close()
        gate.acquire()
        // First: closing the last connection moves the log into the database and removes it.
        snapshots.close()
        let wasOpen = queue.unsafeReentrantRead { db in
            guard isOpen.exchange(false, ordering: .acquiringAndReleasing) else { return false }
            last?(db)
            return true
        }
        gate.release()
        guard wasOpen else { return }
        Self.close(queue)
        if let reader { Self.unlock(reader) }
        OpenDatabases.shared.release(file)
    }
}

extension WriterConnection {
    /// Opens `file` for this process alone.
    ///
    /// - Throws: `inUse` with the process that has it open.
    static func openForWriting(_ file: StoreFile) throws(StoreOpenError) -> WriterConnection {
        try withClaim(file) { () throws(StoreOpenError) in
            let locked = try identify(file)
            do throws(StoreOpenError) {
                try file.requireOneName()
                try file.neighbors.requirePlain()
                _ = try file.hasOwnLog()
            } catch {
                // While another process uses the file, its neighbors are that process's.
                throw LockHolder.processID(of: .sqlite, on: locked).map { .inUse(processID: $0) } ?? error
            }
            let queue: DatabaseQueue
            do throws(StoreOpenError) {
                queue = try connect(file, .writer) { try Schema.verify($0) }
            } catch .inUse {
                throw .inUse(processID: LockHolder.processID(of: .sqlite, on: locked) ?? 0)
            }
            do throws(StoreOpenError) {
                try requireUncontested(file, locked)
            } catch {
                close(queue)
                throw error
            }
            return WriterConnection(queue: queue, file: file)
        }
    }

    /// Refuses a file that was opened for writing while another process opened it for reading or replaced it.
    private static func requireUncontested(_ file: StoreFile, _ locked: LockedFile) throws(StoreOpenError) {
        // A reader locks with flock(2) first and then checks for the writer's lock; a writer proceeds in the opposite
        // order. At least one of them detects the other.
        if let holder = LockHolder.processID(of: .reader, on: locked, except: getpid()) {
            throw .inUse(processID: holder)
        }
        // A compaction may have replaced the file since it was identified: nothing may be written to the old one.
        if let status = FileStatus(at: file.path.string), FileIdentity(status) != file.identity {
            throw .inUse(processID: 0)
        }
    }

    /// Opens `file` for reading only, also on a read-only medium.
    static func openForReading(_ file: StoreFile) throws(StoreOpenError) -> WriterConnection {
        try withClaim(file) { () throws(StoreOpenError) in
            let descriptor = try file.openChecked(.readOnly)
            do throws(StoreOpenError) {
                // Best effort: not every file system has flock. Refused while a writer is about to open.
                let isFree = flock(descriptor.rawValue, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK
                let holder = try LockHolder.writer(of: descriptor)
                guard isFree, holder == nil else { throw .inUse(processID: holder ?? 0) }
                try file.neighbors.requirePlain()
                guard try !file.hasOwnLog(descriptor) else { throw .needsRecovery }
                // No process writes, and there is no log: SQLite needs neither locks nor shared memory.
                let queue = try connect(file, .readOnlyFile) { try Schema.verify($0) }
                return WriterConnection(queue: queue, file: file, reader: descriptor)
            } catch {
                unlock(descriptor)
                throw error
            }
        }
    }

    /// Closes a descriptor that was locked with flock(2).
    ///
    /// Unlocked first, because a child process that is being started may hold a copy of the descriptor, and with it the
    /// lock.
    private static func unlock(_ descriptor: FileDescriptor) {
        _ = flock(descriptor.rawValue, LOCK_UN)
        try? descriptor.close()
    }

    /// Checks the header, and determines the name under which the kernel lists locks of `file` by locking it briefly.
    ///
    /// - Throws: `inUse` if a process is reading the file. The list of locks does not contain that process if it is in another
    ///   PID namespace, and does not exist in a service with `ProcSubset=pid`.
    private static func identify(_ file: StoreFile) throws(StoreOpenError) -> LockedFile {
        let descriptor = try file.openChecked(.readWrite)
        defer { unlock(descriptor) }
        let isRead = !lockAlone(descriptor)
        // Another writer would take this process's shared lock for a reader's.
        if isRead { _ = flock(descriptor.rawValue, LOCK_SH | LOCK_NB) }
        let locked = LockedFile(lockedBy: descriptor) ?? LockedFile(file.identity)
        // A file that this process is creating has its own lock (`TemporaryFiles`).
        guard isRead, LockHolder.ownLocks(on: locked) < 2 else { return locked }
        throw .inUse(processID: LockHolder.processID(of: .reader, on: locked, except: getpid()) ?? 0)
    }

    /// Locks a file with flock(2), so that no reader has it. Returns false if a reader keeps it; a writer, which is being opened,
    /// has it only briefly. Not every file system has flock.
    private static func lockAlone(_ descriptor: FileDescriptor) -> Bool {
        for _ in 0..<20 {
            guard flock(descriptor.rawValue, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK else { return true }
            usleep(5000)
        }
        return false
    }

    /// Creates a keychain without records in `file`, which is empty.
    static func create(_ file: StoreFile) throws(StoreOpenError) -> WriterConnection {
        try withClaim(file) { () throws(StoreOpenError) in
            let queue = try connect(file, .writer) { try Schema.create(in: $0) }
            return WriterConnection(queue: queue, file: file)
        }
    }

    private static func withClaim(
        _ file: StoreFile, _ open: () throws(StoreOpenError) -> WriterConnection
    ) throws(StoreOpenError) -> WriterConnection {
        guard try OpenDatabases.shared.claim(file.identity, at: file.path) else {
            throw .inUse(processID: getpid())
        }
        do throws(StoreOpenError) {
            return try open()
        } catch {
            OpenDatabases.shared.release(file.identity)
            throw error
        }
    }

    /// The purpose of a connection.
    private enum ConnectionRole {
        case writer
        /// Reads while a writer of this process has the file open.
        case reader
        /// Reads a file that no process writes to.
        case readOnlyFile

        /// The parameters of SQLite's URI (<https://www.sqlite.org/uri.html>), so that it never creates a file.
        ///
        /// The VFS is SQLite's unix-excl (os_unix.c) with precise errors: the first access locks other processes out, readers too,
        /// and the log's index is in memory instead of a `-shm` file; connections of this process share both.
        func query(vfs: String) -> String {
            switch self {
            case .writer, .reader: "mode=rw&vfs=\(vfs)"
            case .readOnlyFile: "mode=ro&immutable=1&vfs=\(vfs)"
            }
        }

        /// <https://www.sqlite.org/pragma.html>
        var settings: [String] {
            let all = ["temp_store = MEMORY", "trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0"]
            return switch self {
            case .writer:
                ["page_size = 4096", "secure_delete = ON", "synchronous = FULL"] + all
                    + ["wal_autocheckpoint = 0", "cache_size = -8192"]
            case .reader: all + ["query_only = ON", "cache_size = -1024"]
            case .readOnlyFile: all + ["cache_size = -4096"]
            }
        }
    }

    private static func connect(
        _ file: StoreFile, _ role: ConnectionRole, prepare: @escaping @Sendable (Database) throws -> Void = { _ in }
    ) throws(StoreOpenError) -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "keychain"
        configuration.readonly = role == .readOnlyFile
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .immediateError
        // Otherwise GRDB traps after a failed rollback; ``WriteTransaction`` handles that.
        configuration.allowsUnsafeTransactions = true
        let dispatchQueue = Mutex<DispatchQueueReference?>(nil)
        configuration.prepareDatabase { db in
            dispatchQueue.withLock { $0 = .current() }
            // Until the schema is known, no value may be as long as contents.
            try db.limitUntrustedFile(longestValue: ValueLimit.column)
            for setting in role.settings { try db.execute(sql: "PRAGMA \(setting)") }
            if role == .writer { try useLog(db) }
            try prepare(db)
            db.limitValues(to: ValueLimit.row)
        }
        // An empty path would be a separate database in a temporary file.
        guard let path = file.path.string.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed), !path.isEmpty
        else { throw .io(-EINVAL) }
        // The closure lives as long as the queue: a strong reference would be a cycle.
        defer { dispatchQueue.withLock { $0 = nil } }
        do {
            let query = role.query(vfs: try DatabaseVFS.name())
            return try DatabaseQueue(path: "file://\(path)?\(query)", configuration: configuration)
        } catch {
            // GRDB has released its queue, so this is the last reference.
            if let queue = dispatchQueue.withLock({ $0 }) { RetiredQueues.shared.keep(queue) }
            throw StoreOpenError(opening: error)
        }
    }

    /// Enables the write-ahead log, without a rollback journal on disk. A file that was copied by SQLite, or whose log
    /// was removed, has another journal mode. The change concerns the header alone, which is in one sector.
    private static func useLog(_ db: Database) throws {
        if try String.fetchOne(db, sql: "PRAGMA journal_mode") != "wal" {
            try db.execute(sql: "PRAGMA journal_mode = MEMORY")
        }
        guard try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL") == "wal" else {
            throw StoreOpenError.io(ResultCode.SQLITE_ERROR.rawValue)
        }
    }
}
