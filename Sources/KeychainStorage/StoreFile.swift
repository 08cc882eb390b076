internal import Foundation
internal import Glibc
internal import LinuxSupport
internal import SecretCrypto
internal import SystemPackage

/// A keychain file on its way to being opened: exists, is a regular file and has a keychain's header.
///
/// Looked at before SQLite does, because SQLite would recover, and so change, what is not ours.
struct StoreFile {
    /// Absolute, symbolic links followed: where SQLite looks for the log, whatever the working directory becomes.
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

    /// - Throws: ``StoreOpenError/othersMayWrite``.
    func requireNoOtherWriter() throws(StoreOpenError) {
        guard !exposure.othersMayWrite else { throw .othersMayWrite }
    }

    /// The descriptor of a file whose header is a keychain's.
    ///
    /// The caller closes it, and has claimed the file in ``OpenDatabases``: no lock of SQLite may exist in this process.
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

    /// Whether there is a log with transactions that belong to this file.
    ///
    /// The caller has claimed the file in ``OpenDatabases``: closing the descriptor would release SQLite's locks.
    func hasOwnLog() throws(StoreOpenError) -> Bool {
        let descriptor = try openChecked(.readOnly)
        defer { try? descriptor.close() }
        return try hasOwnLog(descriptor)
    }

    /// - Parameter descriptor: Of this file.
    /// - Throws: ``StoreOpenError/mismatchedLog(path:)``.
    func hasOwnLog(_ descriptor: FileDescriptor) throws(StoreOpenError) -> Bool {
        let log = SQLiteFileNames.log(of: path.string)
        switch try LeftLog.finding(at: log, store: descriptor) {
        case .empty: return false
        case .belongs: return true
        case .mismatched: throw .mismatchedLog(path: log)
        }
    }

    /// The log lies beside one name: whoever opens the file by another one misses what is in the log, and what he writes
    /// is overwritten when it is brought in. A creation that was cut off may have left a name, which is removed.
    func requireOneName() throws(StoreOpenError) {
        guard try FileSystemCalls.stat(path).linkCount > 1 else { return }
        TemporaryStoreFile.removeLeftovers(of: self)
        guard try FileSystemCalls.stat(path).linkCount == 1 else { throw .severalNames }
    }

    /// The database header (<https://www.sqlite.org/fileformat.html#the_database_header>): magic, application, format.
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
