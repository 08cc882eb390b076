import DeviceState
import Foundation
import Fuse
import Keychain
import KeychainStorage
import LinuxSupport
import SecretCrypto
import SystemPackage

/// Replaces a damaged keychain by an intact one with every row that is authentic, and no other (S4).
///
/// The damaged file is preserved first, byte by byte. The intact one is written in the same directory and renamed after
/// it is complete and verified, so that the path always refers to a complete keychain.
package struct Repair: Sendable {
    private let file: KeychainPath
    private let acceptsRollback: Bool
    /// The path of the file itself, if the keychain is named by a symbolic link.
    private let path: String

    package init(of file: KeychainPath, acceptingRollback: Bool) {
        self.file = file
        acceptsRollback = acceptingRollback
        path = URL(fileURLWithPath: file.path).resolvingSymlinksInPath().path
    }

    /// - Parameter confirm: Called once with the planned changes, if any. Throws to cancel.
    package func run(
        unlocking source: UnlockSource, showMessage: (String) -> Void, confirm: (RepairResult) throws(CLIError) -> Void
    ) throws(CLIError) -> RepairResult {
        try checkPlace()
        do throws(StoreOpenError) {
            try StoreNeighbors(of: path).requirePlain()
        } catch {
            throw CLIError(error, keychain: file.path)
        }
        var preservedCopy = try preserveCopy()
        var store = try opened()
        defer { store?.close() }
        if !preservedCopy.isCurrent { try openAgain(&store, &preservedCopy) }
        guard preservedCopy.isCurrent else {
            throw CLIError(.inUse, "\(file.path) was in use until now. Try again.")
        }
        let structureFaults = try reading { () throws(KeychainFault) in try store?.verifyStructure() ?? 1 }
        let salvage = structureFaults == 0 ? nil : try SalvagedStore(preservedCopy, beside: path)
        // A salvaged store has no unique indexes to compare.
        let indexFaults = try reading { () throws(KeychainFault) in
            salvage == nil ? try store?.indexFaults() ?? 0 : 0
        }
        guard let readable = salvage?.store ?? store else { throw tooDamaged }
        let keys = try keys(of: readable)
        defer { keys.close() }
        guard !keys.lacksWriterFeature else { throw CLIError(.unknownFeature, keychain: file.path) }
        let root = try unlock(keys, source, showMessage)
        let repair = KeychainRepair(of: readable, keys: keys)
        let findings = try reading { () throws(KeychainFault) in
            try repair.findings(file: attributes, now: KeychainDate.now)
        }
        var result = RepairResult(findings, keychain: file.path, structureFaults: structureFaults + indexFaults)
        guard !findings.isConsistent || result.structureFaults > 0 else { return result }
        try confirm(result)
        let temporary = try written { (copy) throws(KeychainFault) in
            try repair.write(findings, to: copy)
            try repair.rotateKeys(of: copy, root: root)
        }
        let repaired = try verified(temporary, root)
        defer { repaired.keychain.close() }
        result.aside = preservedCopy.path
        try replace(store, with: temporary, keeping: preservedCopy)
        result.repaired = true
        result.stateFault = unsavedState(of: repaired)
        return result
    }

    // MARK: Before anything is changed

    private func checkPlace() throws(CLIError) {
        guard let mountPoint = file.mountPoint else { return }
        throw CLIError(
            .inUse,
            "\(file.path) is mounted at \(mountPoint). '\(MountPointCommand.text("unmount", mountPoint))' it before it is repaired."
        )
    }

    /// Opens the store for this process alone, with the contents of its log; nil if SQLite cannot open it any more.
    private func opened() throws(CLIError) -> SQLiteRecordStore? {
        do throws(StoreOpenError) {
            return try SQLiteRecordStore.open(path: path, refusesOtherWriters: true)
        } catch {
            guard error == .damaged || error == .notAKeychain else { throw CLIError(error, keychain: file.path) }
            return nil
        }
    }

    private func preserveCopy() throws(CLIError) -> PreservedCopy {
        try writing { () throws(Errno) in try PreservedCopy(of: path) }
    }

    /// Opens the store again. Opening has completed an interrupted repair, and the preserved copy must be of that
    /// state. It is copied from a closed file, because closing a file releases all locks on it.
    private func openAgain(_ store: inout SQLiteRecordStore?, _ preservedCopy: inout PreservedCopy) throws(CLIError) {
        store?.close()
        preservedCopy = try preserveCopy()
        store = try opened()
    }

    private var tooDamaged: CLIError {
        CLIError(
            .badKeychain,
            """
            \(file.path) is not a keychain, or too damaged to be repaired: the data that every item needs cannot be \
            read. Restore a backup: 'keychainfs restore --replace BACKUP' keeps this file under another name.
            """)
    }

    /// Opens the keys without writing to the damaged store, not even to enroll this device.
    private func keys(of store: SQLiteRecordStore) throws(CLIError) -> KeyRing {
        let device: SecretBytes
        do throws(DeviceKeyError) {
            device = try DeviceKeyFile(file.locations).readOnly()
        } catch {
            throw CLIError(.failure, error.message)
        }
        do throws(KeychainFault) {
            return try KeyRing(
                store: ReadOnlyRecordStore(store), device: device, commitNumberStore: commitNumberStore,
                isExamination: true)
        } catch {
            throw error == .decode ? tooDamaged : CLIError(error, keychain: file.path)
        }
    }

    private func unlock(
        _ keys: KeyRing, _ source: UnlockSource, _ showMessage: (String) -> Void
    ) throws(CLIError) -> SlotRootKey {
        try keys.reportCost(of: source.kind, keychain: file.path, showMessage: showMessage)
        let secret = try source.read(for: file.shownName, showMessage: showMessage)
        do throws(KeychainFault) {
            let root = try keys.root(of: secret)
            try keys.unlock(root: root, acceptingRollback: acceptsRollback)
            if let warning = StatusReport.Device.warning(of: keys) { showMessage("warning: \(warning).") }
            return root
        } catch {
            throw failure(unlocking: error, secret.kind)
        }
    }

    private func failure(unlocking error: KeychainFault, _ kind: SlotKind) -> CLIError {
        switch error {
        case .authFailed:
            CLIError(
                .wrongPassphrase,
                "\(kind.subject) does not open \(file.path), or its key slot is damaged. Try another way to unlock it.")
        case .decode where !acceptsRollback:
            CLIError(
                .damaged,
                """
                The header of \(file.path) is damaged: it is unknown whether this is the newest copy. Restore a backup, or \
                repair this copy anyway with 'keychainfs check --repair --accept-rollback'.
                """)
        case .decode: tooDamaged
        case .rolledBack, .forked, .missingChanges, .replacedUserKey, .untrustedCommitNumber, .missingCommitNumber:
            CLIError(
                .rolledBack,
                """
                \(file.path) is older than the state that this device has seen, another copy, or its saved commit number is \
                missing or damaged. To repair this copy anyway: 'keychainfs check --repair --accept-rollback'.
                """)
        default: CLIError(error, keychain: file.path)
        }
    }

    private var commitNumberStore: CommitNumberFile { CommitNumberFile(directory: file.locations.stateDirectory) }

    /// The file attributes of recreated directories.
    private var attributes: PosixAttributes {
        let now = KeychainDate.now
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return PosixAttributes(
            inode: 0, permissions: 0o700, userID: attributes?[.ownerAccountID] as? UInt32 ?? 0,
            groupID: attributes?[.groupOwnerAccountID] as? UInt32 ?? 0, modificationTime: now, accessTime: now)
    }

    // MARK: The repaired keychain

    /// Writes a complete keychain next to the damaged one, and closes it.
    private func written(_ fill: (SQLiteRecordStore) throws(KeychainFault) -> Void) throws(CLIError) -> TemporaryFile {
        let temporary = try writing { () throws(Errno) in try TemporaryFile(for: path) }
        do throws(StoreOpenError) {
            let store = try SQLiteRecordStore.create(inEmptyFile: temporary.path)
            defer {
                store.close()
                SQLiteFileNames.removeLog(of: temporary.path)
            }
            do throws(KeychainFault) {
                try fill(store)
                try store.checkpoint()
            } catch {
                throw error == .diskFull ? .diskFull : .initialization(error)
            }
        } catch {
            throw CLIError(error, keychain: file.path)
        }
        PreservedCopy.setOwner(of: path, to: temporary.path)
        return temporary
    }

    /// Opens the new keychain for reading, unlocks it, and verifies that it is intact.
    private func verified(
        _ temporary: borrowing TemporaryFile, _ root: borrowing SlotRootKey
    ) throws(CLIError) -> OpenedKeychain {
        let opened = try KeychainPath(path: temporary.path, locations: file.locations).open(
            isReadOnly: true, isBackup: true)
        do throws(KeychainFault) {
            try opened.keychain.keys.unlock(root: root)
            guard try opened.keychain.check().isConsistent else { throw .decode }
            return opened
        } catch {
            opened.keychain.close()
            guard error == .decode else { throw CLIError(error, keychain: file.path) }
            throw CLIError(.damaged, "\(file.path) could not be repaired, and is as it was. Restore a backup.")
        }
    }

    /// Truncates the log first, which would otherwise be used for the new file.
    private func replace(
        _ store: SQLiteRecordStore?, with temporary: consuming TemporaryFile,
        keeping preservedCopy: consuming PreservedCopy
    ) throws(CLIError) {
        let isCurrent: Bool
        if let store {
            try reading { () throws(KeychainFault) in try store.checkpoint() }
            isCurrent = store.isInPlace && !SQLiteFileNames.hasLog(path)
        } else {
            isCurrent = preservedCopy.isCurrent
        }
        guard isCurrent else {
            throw CLIError(.failure, "\(file.path) was moved or changed in the meantime. This repair changed nothing.")
        }
        let kept = preservedCopy.path
        do throws(Errno) { try preservedCopy.install() } catch { throw CLIError(error, writing: kept) }
        // Later another process may have opened the new file.
        if let store {
            try reading { () throws(KeychainFault) in try store.removeLog() }
        } else {
            SQLiteFileNames.removeLog(of: path)
        }
        do throws(Errno) { try temporary.replace() } catch { throw CLIError(error, replacing: file.path) }
    }

    /// Saves the state of this device. Returns why it is not saved.
    private func unsavedState(of repaired: OpenedKeychain) -> StateFault? {
        do throws(KeychainFault) {
            try repaired.keychain.keys.setCommitNumber(in: commitNumberStore)
            return nil
        } catch {
            return StateFault(error)
        }
    }

    // MARK: Errors

    private func reading<Result>(
        _ body: () throws(KeychainFault) -> Result
    ) throws(CLIError) -> Result {
        do throws(KeychainFault) { return try body() } catch { throw CLIError(error, keychain: file.path) }
    }

    private func writing<Result: ~Copyable>(
        _ body: () throws(Errno) -> Result
    ) throws(CLIError) -> Result {
        do throws(Errno) { return try body() } catch { throw CLIError(error, replacing: file.path) }
    }
}

/// The salvaged rows of a file with damaged pages. Removed at the end of this object's lifetime.
private final class SalvagedStore {
    let store: SQLiteRecordStore
    private let temporary: TemporaryFile

    /// - Parameter path: A path in a directory with free space.
    init(_ preservedCopy: borrowing PreservedCopy, beside path: String) throws(CLIError) {
        let source = try Self.temporaryFile(beside: path)
        do throws(Errno) { try preservedCopy.copy(to: source) } catch { throw CLIError(error, replacing: path) }
        temporary = try Self.temporaryFile(beside: path)
        do throws(KeychainFault) {
            store = try SQLiteRecordStore.salvage(fileAt: source.path, to: temporary.path)
        } catch {
            throw CLIError(error, keychain: path)
        }
    }

    private static func temporaryFile(beside path: String) throws(CLIError) -> TemporaryFile {
        do throws(Errno) { return try TemporaryFile(for: path) } catch { throw CLIError(error, replacing: path) }
    }

    deinit { store.close() }
}
