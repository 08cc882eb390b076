import DeviceState
import Foundation
import Fuse
import Keychain
import SystemPackage

/// What `backup` has made.
package struct BackupAnswer: JSONText, Sendable {
    package let backup: String
    package let bytes: Int64
    package let items: Int
    /// Items that are in no backup (WhenPasscodeSetThisDeviceOnly).
    package let leftOut: Int
    package let commitNumber: Int64
    /// `verified` or `damaged`: whether the rows of the keychain are those that were committed, and the indexes lead to them.
    package let integrity: String

    package var isConsistent: Bool { integrity == IntegrityState.verified.rawValue }

    /// For a person.
    package var text: String {
        let first = "\(items) items in \(backup) (\(bytes) bytes)."
        guard leftOut > 0 else { return first }
        return first + "\nIn no backup (WhenPasscodeSetThisDeviceOnly): \(leftOut)."
    }
}

/// A consistent, still encrypted copy of a keychain, mounted or not (S1).
package struct Backup: Sendable {
    private let keychain: KeychainFile
    private let path: String

    /// `path`: where the copy is to be; nothing may be there.
    package init(of keychain: KeychainFile, at path: String) {
        self.keychain = keychain
        self.path = path
    }

    /// Through the daemon of a mounted keychain, without a passphrase; else by opening it for reading.
    ///
    /// Written under another name, synchronized, then named: a crash leaves nothing at the path.
    package func make(unlocking source: UnlockSource, say: (String) -> Void) throws(Failure) -> BackupAnswer {
        try checkPlace()
        if let mountPoint = keychain.mountPoint {
            return try take(from: mountPoint)
        }
        let opened = try keychain.openToLook()
        defer { opened.keychain.close() }
        try opened.unlock(from: source, keychain: keychain.path, say: say)
        return try copy(opened)
    }

    // MARK: The place

    private func checkPlace() throws(Failure) {
        let directory = FilePath(path).removingLastComponent().string
        guard !MountedKeychains.contain(directory) else {
            throw Failure(
                .usage, "\(path) lies in a mounted keychain. Name a file on a disk, best on another one.")
        }
        switch Self.type(of: path) {
        case nil: break
        case .typeDirectory: throw Failure(.exists, "\(path) is a directory. Name a new file in it.")
        default: throw Self.exists(path)
        }
        guard Self.type(of: directory) == .typeDirectory else {
            throw Failure(.failure, "There is no directory \(directory) for the backup. Make it, or mount its disk.")
        }
    }

    /// Links are not followed.
    private static func type(of path: String) -> FileAttributeType? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType
    }

    private static func exists(_ path: String) -> Failure {
        Failure(.exists, "\(path) is there already, and a backup overwrites nothing. Name a new file.")
    }

    // MARK: The copy

    private func copy(_ opened: OpenedKeychain) throws(Failure) -> BackupAnswer {
        let draft: TemporaryFile
        let (contents, integrity): (BackupContents, String)
        do throws(Errno) { draft = try TemporaryFile(for: path) } catch { throw failure(error) }
        do throws(KeychainFault) {
            contents = try opened.copy(to: draft.path)
            integrity = try opened.integrity(of: contents).rawValue
        } catch {
            throw error == .diskFull ? failure(.noSpace) : Failure(error, keychain: keychain.path)
        }
        do throws(Errno) {
            return try publish(draft, contents.items, contents.leftOut, contents.commitNumber, integrity)
        } catch {
            throw failure(error)
        }
    }

    private func take(from mountPoint: String) throws(Failure) -> BackupAnswer {
        let snapshot = try self.snapshot(of: mountPoint)
        let file: FileDescriptor
        do {
            file = try FileDescriptor.open(FilePath(snapshot.file), .readOnly, options: [.closeOnExec, .noFollow])
        } catch {
            throw Failure(.failure, "The copy that the daemon has made at \(snapshot.file) cannot be read: \(error).")
        }
        defer { try? file.close() }
        // Nobody else needs the name, and so it is gone whatever becomes of this process.
        try? FileManager.default.removeItem(atPath: snapshot.file)
        do throws(Errno) {
            let draft = try TemporaryFile(for: path)
            try draft.copy(from: file)
            return try publish(
                draft, snapshot.items, snapshot.leftOut, snapshot.commitNumber, snapshot.integrity)
        } catch {
            throw failure(error)
        }
    }

    private func snapshot(of mountPoint: String) throws(Failure) -> SnapshotAnswer {
        let answer = try MountClient(mountPoint: mountPoint).run("backup", limit: MountClient.longLimit)
        guard let snapshot = try? SnapshotAnswer(json: answer), SnapshotMaker.canBeCopy(snapshot.file) else {
            throw Failure(
                .failure, "The daemon at \(mountPoint) gave an answer that this version does not understand.")
        }
        return snapshot
    }

    private func publish(
        _ draft: consuming TemporaryFile, _ items: Int, _ leftOut: Int, _ commitNumber: Int64,
        _ integrity: String
    ) throws(Errno) -> BackupAnswer {
        let bytes = draft.byteCount
        try draft.publish()
        return BackupAnswer(
            backup: path, bytes: bytes, items: items, leftOut: leftOut, commitNumber: commitNumber,
            integrity: integrity)
    }

    private func failure(_ error: Errno) -> Failure {
        error == .fileExists ? Self.exists(path) : Failure(error, writing: path)
    }
}

extension Failure {
    /// Why a file of the user's cannot be written; nothing of it is there.
    init(_ error: Errno, writing path: String) {
        switch error {
        case .noSpace, .diskQuotaExceeded:
            self.init(.diskFull, "There is no room for \(path). Make room and try again; nothing was left there.")
        case .readOnlyFileSystem:
            self.init(.readOnly, "\(path) is on a read-only medium.")
        case .permissionDenied, .notPermitted:
            self.init(.failure, "\(path) cannot be made: this user may not write to its directory.")
        default:
            self.init(.failure, "\(path) cannot be written: \(error).")
        }
    }
}
