internal import Foundation
internal import Glibc
internal import LinuxSupport
internal import SecretCrypto
internal import SystemPackage

/// A keychain file that is about to be opened: it exists, is a regular file and has a keychain's header.
///
/// Checked before SQLite opens the file, because SQLite would recover, and so change, a file of another program.
struct StoreFile {
    /// The absolute path without symbolic links, next to which SQLite searches for the log, regardless of the working
    /// directory.
    let path: FilePath
    let identity: FileIdentity
    private let exposure: FileExposure

    init(path: String) throws(StoreOpenError) {
        self.path = FilePath(URL(fileURLWithPath: path).resolvingSymlinksInPath().path)
        let stat = try FileSystemCalls.stat(self.path)
        guard stat.type == .regular else { throw .notRegularFile }
        identity = FileIdentity(stat)
        exposure = FileExposure(mode: stat.mode.rawValue, owner: stat.userID.rawValue)
    }

    /// Requires that no other user may write to the file.
    ///
    /// - Throws: ``StoreOpenError/othersMayWrite``.
    func requireNoOtherWriter() throws(StoreOpenError) {
        guard !exposure.othersMayWrite else { throw .othersMayWrite }
    }

    /// Opens the file and checks that its header is a keychain's. The caller closes the descriptor.
    ///
    /// - Precondition: The caller has claimed the file in ``OpenDatabases``: no lock of SQLite may exist in this
    ///   process.
    func openChecked(_ access: FileDescriptor.AccessMode) throws(StoreOpenError) -> FileDescriptor {
        let descriptor: FileDescriptor
        do {
            descriptor = try FileDescriptor.open(path, access, options: [.closeOnExec, .nonBlocking])
        } catch {
            throw StoreOpenError(error as? Errno ?? .ioError)
        }
        do throws(StoreOpenError) {
            try Self.checkHeader(descriptor)
        } catch {
            try? descriptor.close()
            throw error
        }
        return descriptor
    }

    var neighbors: StoreNeighbors { StoreNeighbors(of: path) }

    /// Returns whether a log with transactions of this file exists.
    ///
    /// - Precondition: The caller has claimed the file in ``OpenDatabases``: closing the descriptor would release
    ///   SQLite's locks.
    func hasOwnLog() throws(StoreOpenError) -> Bool {
        let descriptor = try openChecked(.readOnly)
        defer { try? descriptor.close() }
        return try hasOwnLog(descriptor)
    }

    /// Returns whether a log with transactions of this file exists.
    ///
    /// - Parameter descriptor: A descriptor of this file.
    /// - Throws: ``StoreOpenError/mismatchedLog(path:)``.
    func hasOwnLog(_ descriptor: FileDescriptor) throws(StoreOpenError) -> Bool {
        let log = SQLiteFileNames.log(of: path.string)
        switch try LeftLog.finding(at: log, store: descriptor) {
        case .empty: return false
        case .belongs: return true
        case .mismatched: throw .mismatchedLog(path: log)
        }
    }

    /// Requires that the file has one name. The log is next to one name: a process that opens the file by another one
    /// misses the log's contents, and loses its own changes when the log is recovered. Removes a name that an
    /// interrupted creation may have left.
    func requireOneName() throws(StoreOpenError) {
        guard try FileSystemCalls.stat(path).linkCount > 1 else { return }
        TemporaryStoreFile.removeLeftovers(of: self)
        guard try FileSystemCalls.stat(path).linkCount == 1 else { throw .severalNames }
    }

    /// Checks the database header (<https://www.sqlite.org/fileformat.html#the_database_header>): magic, application,
    /// format.
    private static func checkHeader(_ descriptor: FileDescriptor) throws(StoreOpenError) {
        let header: [UInt8]
        do {
            let handle = FileHandle(fileDescriptor: descriptor.rawValue, closeOnDealloc: false)
            header = try [UInt8](handle.read(upToCount: 100) ?? Data())
        } catch {
            throw .io(-EIO)
        }
        guard header.count == 100, header.starts(with: Array("SQLite format 3\0".utf8)) else { throw .notAKeychain }
        guard number(in: header, at: 68) == Schema.applicationID else { throw .notAKeychain }
        let format = number(in: header, at: 60)
        guard format == Schema.format else { throw .unknownFormat(Int(format)) }
    }

    private static func number(in header: [UInt8], at offset: Int) -> Int32 {
        header[offset..<offset + 4].reduce(0) { $0 << 8 | Int32($1) }
    }
}
