package import DeviceState
import FileSystemCore
import Foundation
import Fuse
import Keychain
import KeychainStorage
package import SecretCrypto
import SystemPackage

/// A keychain's file: creates, opens and verifies it.
package struct KeychainPath: Sendable {
    package let path: String
    let locations: DefaultPaths

    package init(path: String, locations: DefaultPaths = DefaultPaths()) {
        self.path = path
        self.locations = locations
    }

    /// Creates a new keychain, after reading its passphrase.
    package func create(
        passphrase: PassphraseSource, cost: KDFCostOption, showMessage: (String) -> Void
    ) throws(CLIError) {
        guard !exists else { throw alreadyExists }
        let secret = try passphrase.readNew(for: shownName, showMessage: showMessage)
        try create(passphrase: secret, cost: cost.cost)
    }

    /// Creates a new keychain with a passphrase. A failure leaves nothing behind.
    package func create(passphrase: borrowing SecretBytes, cost: Argon2id.Cost) throws(CLIError) {
        let device = try CLIError.reporting { () throws(DeviceKeyError) in try DeviceKeyFile(locations).read() }
        interruptedOperations.removeDrafts()
        do throws(StoreOpenError) {
            let store = try SQLiteRecordStore.create(at: path) { (store) throws(KeychainFault) in
                try KeyRing.create(
                    in: store, passphrase: passphrase, cost: cost, device: device,
                    commitNumberStore: CommitNumberFile(directory: locations.stateDirectory))
                return store
            }
            store.close()
        } catch .notFound, .notRegularFile {
            let directory = FilePath(path).removingLastComponent()
            throw CLIError(.failure, "There is no directory \(directory) for the keychain, and it cannot be created.")
        } catch {
            throw CLIError(error, keychain: path)
        }
    }

    /// Whether a file of any type has that name.
    package var exists: Bool { Self.exists(at: path) }

    static func exists(at path: String) -> Bool { (try? FileManager.default.attributesOfItem(atPath: path)) != nil }

    /// Opens the keychain, locked. For reading only, nothing is written anywhere.
    ///
    /// - Parameters:
    ///   - isBackup: Whether it may be older than the state that this device has seen.
    ///   - isExamination: Whether it opens in spite of damaged rows of keys and a damaged header. Only for reading.
    func open(
        isReadOnly: Bool, isBackup: Bool = false, isExamination: Bool = false
    ) throws(CLIError) -> OpenedKeychain {
        if !isReadOnly { interruptedOperations.undo() }
        let store: SQLiteRecordStore
        do throws(StoreOpenError) {
            store =
                try isReadOnly
                ? readOnlyStore(isBackup: isBackup) : SQLiteRecordStore.open(path: path, refusesOtherWriters: true)
        } catch {
            throw CLIError(error, keychain: path)
        }
        return try opened(store, isBackup: isBackup, isExamination: isExamination)
    }

    /// Opens the keychain for reading, locked. Reads a keychain that was not closed from a copy, in which its log is
    /// recovered; nothing else is written anywhere.
    ///
    /// - Parameter isExamination: As for ``open(isReadOnly:isBackup:isExamination:)``.
    func openForReading(isExamination: Bool = false) throws(CLIError) -> OpenedKeychain {
        let store: SQLiteRecordStore?
        do throws(StoreOpenError) {
            store = try readOnlyStore(isBackup: false)
        } catch .needsRecovery {
            store = nil
        } catch {
            throw CLIError(error, keychain: path)
        }
        if let store { return try opened(store, isBackup: false, isExamination: isExamination) }
        return try opened(
            RecoveredCopy.open(path, log: interruptedOperations.log), isBackup: false, isExamination: isExamination)
    }

    /// Opens the store for reading. A backup may be on a medium without permissions, so other users may have write
    /// access.
    private func readOnlyStore(isBackup: Bool) throws(StoreOpenError) -> SQLiteRecordStore {
        guard !interruptedOperations.hasMovedLog else { throw .needsRecovery }
        return try SQLiteRecordStore.open(path: path, access: .readOnly, refusesOtherWriters: !isBackup)
    }

    /// Returns the opened keychain. Closes the store if it throws.
    private func opened(
        _ store: SQLiteRecordStore, isBackup: Bool, isExamination: Bool
    ) throws(CLIError) -> OpenedKeychain {
        let deviceFile = DeviceKeyFile(locations)
        let hadDeviceKey = deviceFile.exists
        let device: SecretBytes
        do throws(CLIError) {
            device = try CLIError.reporting { () throws(DeviceKeyError) in
                try store.isReadOnly ? deviceFile.readOnly() : deviceFile.read()
            }
        } catch {
            store.close()
            throw error
        }
        do throws(KeychainFault) {
            let keys = try KeyRing(
                store: store, device: device,
                commitNumberStore: isBackup ? nil : CommitNumberFile(directory: locations.stateDirectory),
                isExamination: isExamination)
            let keychain = KeychainStore(store: store, keys: keys, clock: { KeychainDate.now })
            return OpenedKeychain(keychain: keychain, store: store, hadDeviceKey: hadDeviceKey)
        } catch {
            store.close()
            throw CLIError(error, keychain: path)
        }
    }

    private var interruptedOperations: InterruptedOperations { InterruptedOperations(of: path, locations: locations) }

    /// Verifies every row: through the daemon if the keychain is mounted, otherwise by opening it for reading.
    package func check(unlocking source: UnlockSource, showMessage: (String) -> Void) throws(CLIError) -> CheckResult {
        guard let mountPoint else {
            return try check(try openForReading(isExamination: true), unlocking: source, showMessage: showMessage)
        }
        let answer = try MountClient(mountPoint: mountPoint).run("check", limit: MountClient.longLimit)
        guard let result = try? CheckResult(json: answer) else {
            throw CLIError(
                .failure, "The daemon at \(mountPoint) sent a response that this version does not understand.")
        }
        return result
    }

    /// The mount point, regardless of the source in the mount table; nil if it is not mounted.
    var mountPoint: String? {
        if let mountPoint = MountedKeychains.mountPoint(of: path) { return mountPoint }
        do throws(StoreOpenError) {
            try SQLiteRecordStore.open(path: path, access: .readOnly).close()
            return nil
        } catch .inUse(let processID) {
            return MountedKeychains.mountPoint(of: path, heldBy: processID)
        } catch {
            return nil
        }
    }

    /// Returns the mount point of a keychain that must be mounted.
    package func requireMountPoint() throws(CLIError) -> String {
        guard exists || MountedKeychains.mountPoint(of: path) != nil else { throw missing }
        guard let mountPoint else {
            throw CLIError(.notMounted, "\(path) is not mounted. Mount it with '\(mountCommand)'.")
        }
        return mountPoint
    }

    /// Verifies every row of a backup, which is opened for reading only and may be of any age.
    package func verifyBackup(unlocking source: UnlockSource, showMessage: (String) -> Void) throws(CLIError)
        -> CheckResult
    {
        do throws(CLIError) {
            let opened = try open(isReadOnly: true, isBackup: true, isExamination: true)
            return try check(opened, unlocking: source, showMessage: showMessage)
        } catch  where error.exitCode == .noKeychain {
            throw CLIError(.noKeychain, "There is no backup at \(path).")
        }
    }

    private func check(
        _ opened: OpenedKeychain, unlocking source: UnlockSource, showMessage: (String) -> Void
    ) throws(CLIError) -> CheckResult {
        defer { opened.keychain.close() }
        return try checked(opened, unlocking: source, showMessage: showMessage)
    }

    /// Unlocks and verifies an open keychain, which stays open.
    func checked(
        _ opened: OpenedKeychain, unlocking source: UnlockSource, showMessage: (String) -> Void
    ) throws(CLIError) -> CheckResult {
        try opened.unlock(from: source, of: self, showMessage: showMessage)
        do throws(KeychainFault) {
            return CheckResult(try opened.keychain.check())
        } catch {
            throw CLIError(error, keychain: path)
        }
    }

    /// Warns before a missing device key is replaced (L6), and of files that other users may read (L4).
    func reportFiles(_ showMessage: (String) -> Void) {
        if FileExposure(path: path)?.othersMayRead == true { showMessage(Self.exposed(path)) }
        let deviceKey = DeviceKeyFile(locations)
        guard !deviceKey.exists else {
            if deviceKey.othersMayRead { showMessage(Self.exposed(locations.deviceKey)) }
            return
        }
        showMessage(
            """
            warning: there is no device key at \(locations.deviceKey). Items of this keychain that are bound to a device \
            (ThisDeviceOnly) cannot be opened here; if the key was lost, restore a copy of it.
            """)
    }

    /// Returns the warning of a file that other users may read.
    static func exposed(_ path: String) -> String { "warning: \(path) can be read by others. 'chmod 600' it." }

    /// Returns the error of a mounted keychain, with its mount point.
    func inUse(mountedAt mountPoint: String) -> CLIError {
        let daemon = (try? MountClient(mountPoint: mountPoint).status().pid).map { "by process \($0)" } ?? "there"
        return CLIError(
            .inUse,
            "\(path) is mounted at \(mountPoint) \(daemon). Use it there, or '\(MountPointCommand.text("unmount", mountPoint))' it."
        )
    }

    /// The error of creating a keychain where there is a file. It never advises to remove that file, which may be the only
    /// copy of all secrets.
    var alreadyExists: CLIError {
        let use =
            MountedKeychains.mountPoint(of: path).map { "It is mounted at \($0)." }
            ?? "If it is your keychain, mount it with '\(mountCommand)'."
        return CLIError(
            .exists,
            "\(path) exists already, and was not changed. \(use) For a new one, name another file with --keychain.")
    }
}

extension CLIError {
    /// Maps the reason why a store cannot be opened to a message for the user.
    init(_ error: StoreOpenError, keychain path: String) {
        switch error {
        case .notFound: self = KeychainPath(path: path).missing
        case .alreadyExists: self = KeychainPath(path: path).alreadyExists
        case .leftoverFile(let file):
            self.init(
                .exists,
                "\(file) belongs to another keychain. Move it to where that keychain is now, or away.")
        case .foreignFile(let file):
            self.init(
                .badKeychain,
                """
                \(file) does not belong to a keychain: it is a rollback journal, or not a regular file. Nothing was changed. \
                Move it away.
                """)
        case .mismatchedLog(let file):
            self.init(
                .badKeychain,
                """
                \(file) does not belong to \(path): it is the write-ahead log of another keychain, or of another copy of this \
                one. Nothing was changed. Put back the file that it belongs to, or move the log away.
                """)
        case .severalNames:
            self.init(
                .failure,
                """
                \(path) has another name too (a hard link), and its last changes may be in the log of one of them. Turn the other \
                into a copy ('cp -p NAME COPY && mv COPY NAME'), and use the one that was mounted last. 'find DIRECTORY -samefile \
                \(ShellWord.quoted(path))' shows both.
                """)
        case .othersMayWrite:
            self.init(
                .failure,
                """
                \(path) is refused: other users may write to it, and so replace what is in it. 'chmod 600' it; if it belongs to \
                another user, use it as that user, or 'chown' a copy.
                """)
        case .notRegularFile, .notAKeychain: self.init(KeychainFault.notAKeychain, keychain: path)
        case .damaged:
            self.init(
                .badKeychain,
                """
                \(path) is truncated or damaged. Restore a backup, or let 'keychainfs check --repair' save the intact items.
                """)
        case .unknownFormat(let format): self.init(KeychainFault.unknownFormat(format), keychain: path)
        case .inUse(let processID):
            self.init(
                KeychainFault.inUse(processID: processID), keychain: path,
                mount: MountedKeychains.mountPoint(of: path, heldBy: processID))
        // MAX_PATHNAME of SQLite's os_unix.c and NAME_MAX, minus the suffixes of SQLite and of temporary files.
        case .permissionDenied where path.utf8.count > 500:
            self.init(
                .usage, "The path of the keychain is longer than 500 bytes. Put it into a directory with a shorter one."
            )
        case .permissionDenied where path.split(separator: "/").contains { $0.utf8.count > 240 }:
            self.init(.usage, "A name in the path of the keychain is longer than 240 bytes. Choose a shorter one.")
        case .permissionDenied:
            self.init(.failure, "\(path) or its directory cannot be read and written by this user.")
        case .readOnlyFileSystem: self.init(KeychainFault.readOnly, keychain: path)
        case .needsRecovery:
            self.init(
                .readOnly,
                "\(path) was not closed properly: it has to be mounted once without '-o ro', on a medium that can be written."
            )
        case .diskFull: self.init(KeychainFault.diskFull, keychain: path)
        case .io(let code): self.init(KeychainFault.io(code), keychain: path)
        case .initialization(let error): self.init(error, keychain: path)
        }
    }

    /// Maps a fault. The message for a mounted keychain contains the mount point.
    private init(_ error: KeychainFault, keychain path: String, mount: String?) {
        guard let mount, case .inUse(let processID) = error else {
            self.init(error, keychain: path)
            return
        }
        self.init(
            .inUse,
            "\(path) is mounted at \(mount) by process \(processID). Use it there, or '\(MountPointCommand.text("unmount", mount))' it."
        )
    }
}

extension CLIError {
    /// Runs `body`. A problem with the device key ends the command.
    fileprivate static func reporting(
        _ body: () throws(DeviceKeyError) -> SecretBytes
    ) throws(CLIError) -> SecretBytes {
        do { return try body() } catch { throw CLIError(.failure, error.message) }
    }
}
