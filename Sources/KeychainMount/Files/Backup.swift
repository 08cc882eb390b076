import DeviceState
import Foundation
import Fuse
import Keychain
import KeychainStorage
import LinuxSupport
import SystemPackage

/// The result of `backup`.
package struct BackupResult: JSONText, Sendable {
    package let backup: String
    package let bytes: Int64
    package let items: Int
    /// The number of items that never are in a backup (WhenPasscodeSetThisDeviceOnly).
    package let leftOut: Int
    package let commitNumber: Int64
    /// `verified` or `damaged`: whether the rows of the keychain are as committed and match the indexes.
    package let integrity: String

    package var isConsistent: Bool { integrity == IntegrityState.verified.rawValue }

    /// The text for users.
    package var text: String {
        let first = "\(Counted.items(items)) in \(backup) (\(Counted.bytes(bytes)))."
        guard leftOut > 0 else { return first }
        return first + "\nIn no backup (WhenPasscodeSetThisDeviceOnly): \(leftOut)."
    }
}

/// A consistent, encrypted copy of a keychain, mounted or not (S1).
package struct Backup: Sendable {
    private let keychain: KeychainPath
    private let path: String

    /// - Parameter path: The path of the copy, which must not exist.
    package init(of keychain: KeychainPath, at path: String) {
        self.keychain = keychain
        self.path = path
    }

    /// Creates the copy: through the daemon of a mounted keychain, without a passphrase; otherwise by opening the file
    /// for reading.
    ///
    /// Written under a temporary name and synchronized first, so that a crash leaves nothing at the path.
    package func make(unlocking source: UnlockSource, showMessage: (String) -> Void) throws(CLIError) -> BackupResult {
        try checkPlace()
        if let mountPoint = keychain.mountPoint {
            return try take(from: mountPoint)
        }
        let opened = try keychain.openForReading()
        defer { opened.keychain.close() }
        try opened.unlock(from: source, of: keychain, showMessage: showMessage)
        return try copy(opened)
    }

    // MARK: The place

    private func checkPlace() throws(CLIError) {
        let directory = FilePath(path).removingLastComponent().string
        guard !MountedKeychains.contain(directory) else {
            throw CLIError(
                .usage, "\(path) is in a mounted keychain. Name a file on a disk, best on another one.")
        }
        switch Self.type(of: path) {
        case nil: break
        case .typeDirectory: throw CLIError(.exists, "\(path) is a directory. Name a new file in it.")
        default: throw Self.exists(path)
        }
        guard Self.type(of: directory) == .typeDirectory else {
            throw CLIError(.failure, "There is no directory \(directory) for the backup. Make it, or mount its disk.")
        }
    }

    /// Returns the type of a file. Does not follow symbolic links.
    private static func type(of path: String) -> FileAttributeType? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType
    }

    private static func exists(_ path: String) -> CLIError {
        CLIError(.exists, "\(path) exists already, and a backup overwrites nothing. Name a new file.")
    }

    // MARK: The copy

    private func copy(_ opened: OpenedKeychain) throws(CLIError) -> BackupResult {
        let temporary: TemporaryFile
        let (contents, integrity): (BackupContents, String)
        do throws(Errno) { temporary = try TemporaryFile(for: path) } catch { throw failure(error) }
        do throws(CopyError<KeychainFault>) {
            contents = try opened.copy(to: temporary.path)
        } catch {
            throw CLIError(error, keychain: keychain.path, copy: path)
        }
        do throws(KeychainFault) {
            integrity = try opened.integrity(of: contents).rawValue
        } catch {
            throw CLIError(error, keychain: keychain.path)
        }
        do throws(Errno) {
            return try install(temporary, contents.items, contents.leftOut, contents.commitNumber, integrity)
        } catch {
            throw failure(error)
        }
    }

    private func take(from mountPoint: String) throws(CLIError) -> BackupResult {
        let client = MountClient(mountPoint: mountPoint)
        let snapshot = try self.snapshot(from: client, at: mountPoint)
        let file: FileDescriptor
        do {
            file = try FileDescriptor.open(FilePath(snapshot.file), .readOnly, options: [.closeOnExec, .noFollow])
        } catch {
            // A daemon that ends removes its copies.
            try client.requireResponse()
            throw CLIError(
                .failure, "The copy that the daemon has created at \(snapshot.file) cannot be read: \(error).")
        }
        defer { try? file.close() }
        // No other process needs the name, and the file must disappear even if this process is killed.
        try? FileManager.default.removeItem(atPath: snapshot.file)
        do throws(Errno) {
            let temporary = try TemporaryFile(for: path)
            do throws(CopyError<Errno>) { try temporary.copy(from: file) } catch { throw error.cause }
            return try install(
                temporary, snapshot.items, snapshot.leftOut, snapshot.commitNumber, snapshot.integrity)
        } catch {
            throw failure(error)
        }
    }

    private func snapshot(from client: MountClient, at mountPoint: String) throws(CLIError) -> SnapshotResult {
        let result = try client.run("backup", limit: MountClient.longLimit)
        guard let snapshot = try? SnapshotResult(json: result), SnapshotWriter.canBeCopy(snapshot.file) else {
            throw CLIError(
                .failure, "The daemon at \(mountPoint) sent a response that this version does not understand.")
        }
        return snapshot
    }

    private func install(
        _ temporary: consuming TemporaryFile, _ items: Int, _ leftOut: Int, _ commitNumber: Int64,
        _ integrity: String
    ) throws(Errno) -> BackupResult {
        let bytes = temporary.byteCount
        try temporary.install()
        return BackupResult(
            backup: path, bytes: bytes, items: items, leftOut: leftOut, commitNumber: commitNumber,
            integrity: integrity)
    }

    private func failure(_ error: Errno) -> CLIError {
        error == .fileExists ? Self.exists(path) : CLIError(error, writing: path)
    }
}

extension CLIError {
    /// Maps the error of a copy. The message names the file that the disk refuses; damage is always that of the keychain.
    init(_ error: CopyError<KeychainFault>, keychain: String, copy path: String) {
        switch error {
        case .copy(.diskFull): self.init(Errno.noSpace, writing: path)
        case .copy(.readOnly): self.init(Errno.readOnlyFileSystem, writing: path)
        case .copy(.io(let code)): self.init(code < 0 ? Errno(rawValue: -code) : .ioError, writing: path)
        case .source(let fault), .copy(let fault): self.init(fault, keychain: keychain)
        }
    }

    /// Maps the reason why a keychain that exists cannot be read or replaced. It is as it was.
    init(_ error: Errno, replacing path: String) {
        switch error {
        case .permissionDenied, .notPermitted:
            self.init(.failure, "\(path) or its directory cannot be read and written by this user.")
        default:
            self.init(KeychainFault(error), keychain: path)
        }
    }

    /// Maps the reason why a file of the user cannot be written. No file is left.
    init(_ error: Errno, writing path: String) {
        switch error {
        case .noSpace, .diskQuotaExceeded:
            self.init(
                .diskFull, "There is no space for \(path). Free some space and try again; no file was left there.")
        case .readOnlyFileSystem:
            self.init(.readOnly, "\(path) is on a read-only medium.")
        case .permissionDenied, .notPermitted:
            self.init(.failure, "\(path) cannot be created: this user may not write to its directory.")
        default:
            self.init(.failure, "\(path) cannot be written: \(error).")
        }
    }
}
