import DeviceState
import Foundation
import Fuse
import Keychain
import KeychainStorage
import SecretCrypto
import SystemPackage
import SystemServices

/// Puts a sound keychain in the place of a damaged one: with every row that verifies, and no other (S4).
///
/// The damaged file is copied aside first, byte by byte. The sound one is written beside it and takes its name when it is
/// whole and was checked: at every moment the old or the new keychain lies there.
package struct Repair: Sendable {
    private let file: KeychainFile
    private let acceptsRollback: Bool
    /// Of the file itself, where the keychain is named by a link.
    private let path: String

    package init(of file: KeychainFile, acceptingRollback: Bool) {
        self.file = file
        acceptsRollback = acceptingRollback
        path = URL(fileURLWithPath: file.path).resolvingSymlinksInPath().path
    }

    /// - Parameter confirm: is shown what will be done, once, unless there is nothing to do; throws to leave all as it is.
    package func run(
        unlocking source: UnlockSource, say: (String) -> Void, confirm: (RepairAnswer) throws(Failure) -> Void
    ) throws(Failure) -> RepairAnswer {
        try checkPlace()
        do throws(StoreOpenError) {
            try StoreNeighbors(of: path).requirePlain()
        } catch {
            throw Failure(error, keychain: file.path)
        }
        var aside = try copiedAside()
        var store = try opened()
        defer { store?.close() }
        if !aside.isCurrent { try openAgain(&store, &aside) }
        guard aside.isCurrent else { throw Failure(.inUse, "\(file.path) was in use a moment ago. Try again.") }
        let structureFaults = try reading { () throws(KeychainFault) in try store?.verifyStructure() ?? 1 }
        let salvage = structureFaults == 0 ? nil : try SalvagedStore(aside, beside: path)
        // A salvaged store has no unique indexes to compare.
        let indexFaults = try reading { () throws(KeychainFault) in
            salvage == nil ? try store?.indexFaults() ?? 0 : 0
        }
        guard let readable = salvage?.store ?? store else { throw tooDamaged }
        let keys = try keys(of: readable)
        defer { keys.close() }
        let root = try unlock(keys, source, say)
        let repair = KeychainRepair(of: readable, keys: keys)
        let findings = try reading { () throws(KeychainFault) in
            try repair.findings(file: facts, now: KeychainDate(SystemClock.now()))
        }
        var answer = RepairAnswer(findings, keychain: file.path, structureFaults: structureFaults + indexFaults)
        guard !findings.isConsistent || answer.structureFaults > 0 else { return answer }
        try confirm(answer)
        let draft = try written { (copy) throws(KeychainFault) in try repair.write(findings, to: copy) }
        let repaired = try verified(draft, root)
        defer { repaired.keychain.close() }
        answer.aside = aside.path
        try replace(store, with: draft, keeping: aside)
        answer.repaired = true
        keepCommitNumber(of: repaired, say)
        return answer
    }

    // MARK: Before anything is changed

    private func checkPlace() throws(Failure) {
        guard let mountPoint = file.mountPoint else { return }
        throw Failure(
            .inUse, "\(file.path) is mounted at \(mountPoint). 'keychainfs unmount' it before it is repaired.")
    }

    /// For this process alone, what its log holds included; nil for one that SQLite cannot open any more.
    private func opened() throws(Failure) -> SQLiteRecordStore? {
        do throws(StoreOpenError) {
            return try SQLiteRecordStore.open(path: path, refusesOtherWriters: true)
        } catch {
            guard error == .damaged || error == .notAKeychain else { throw Failure(error, keychain: file.path) }
            return nil
        }
    }

    private func copiedAside() throws(Failure) -> FileAside {
        try writing { () throws(Errno) in try FileAside(of: path) }
    }

    /// Opening has brought into order what a repair that was cut off had left: the copy is to be of that. It is made of a
    /// closed file, since whoever closes a file gives up all locks on it.
    private func openAgain(_ store: inout SQLiteRecordStore?, _ aside: inout FileAside) throws(Failure) {
        store?.close()
        aside = try copiedAside()
        store = try opened()
    }

    private var tooDamaged: Failure {
        Failure(
            .badKeychain,
            """
            \(file.path) is no keychain, or too damaged to be repaired: what belongs to the keychain as a whole cannot be \
            read. Restore a backup: 'keychainfs restore --replace BACKUP' keeps this file aside.
            """)
    }

    /// Nothing is written to a store that is to be repaired, not even that this device is new to it.
    private func keys(of store: SQLiteRecordStore) throws(Failure) -> KeyRing {
        let device: SecretBytes
        do throws(DeviceKeyError) {
            device = try DeviceKeyFile(file.locations).readOnly()
        } catch {
            throw Failure(.failure, error.message)
        }
        do throws(KeychainFault) {
            return try KeyRing(store: ReadOnlyRecordStore(store), device: device, commitNumberStore: commitNumberStore)
        } catch {
            throw error == .decode ? tooDamaged : Failure(error, keychain: file.path)
        }
    }

    private func unlock(
        _ keys: KeyRing, _ source: UnlockSource, _ say: (String) -> Void
    ) throws(Failure) -> SlotRootKey {
        try keys.reportCost(of: source.kind, keychain: file.path, say: say)
        let secret = try source.read(say: say)
        do throws(KeychainFault) {
            let root = try keys.root(of: secret)
            try keys.unlock(root: root, acceptingRollback: acceptsRollback)
            return root
        } catch {
            throw failure(unlocking: error, secret.kind)
        }
    }

    private func failure(unlocking error: KeychainFault, _ kind: SlotKind) -> Failure {
        switch error {
        case .authFailed:
            Failure(
                .wrongPassphrase,
                "\(kind.subject) does not open \(file.path), or its key slot is damaged. Try another way to unlock it.")
        case .decode where !acceptsRollback:
            Failure(
                .damaged,
                """
                The header of \(file.path) is damaged: whether this is the newest copy cannot be told. Restore a backup, or \
                repair this copy as it is with 'keychainfs check --repair --accept-rollback'.
                """)
        case .decode: tooDamaged
        case .rolledBack, .untrustedCommitNumber:
            Failure(
                .rolledBack,
                """
                \(file.path) is older than what this device has seen of it, or the number that tells so is damaged. To repair \
                this copy as it is: 'keychainfs check --repair --accept-rollback'.
                """)
        default: Failure(error, keychain: file.path)
        }
    }

    private var commitNumberStore: CommitNumberFile { CommitNumberFile(directory: file.locations.stateDirectory) }

    /// What directories get that are made anew.
    private var facts: PosixAttributes {
        let now = KeychainDate(SystemClock.now())
        let facts = try? FileManager.default.attributesOfItem(atPath: path)
        return PosixAttributes(
            inode: 0, permissions: 0o700, userID: facts?[.ownerAccountID] as? UInt32 ?? 0,
            groupID: facts?[.groupOwnerAccountID] as? UInt32 ?? 0, modificationTime: now, accessTime: now)
    }

    // MARK: The repaired keychain

    /// A whole keychain beside the damaged one, closed.
    private func written(_ fill: (SQLiteRecordStore) throws(KeychainFault) -> Void) throws(Failure) -> TemporaryFile {
        let draft = try writing { () throws(Errno) in try TemporaryFile(for: path) }
        do throws(StoreOpenError) {
            let store = try SQLiteRecordStore.create(inEmptyFile: draft.path)
            defer {
                store.close()
                SQLiteFileNames.removeLog(of: draft.path)
            }
            do throws(KeychainFault) {
                try fill(store)
                try store.checkpoint()
            } catch {
                throw error == .diskFull ? .diskFull : .initialization(error)
            }
        } catch {
            throw Failure(error, keychain: file.path)
        }
        FileAside.giveOwner(of: path, to: draft.path)
        return draft
    }

    /// Opened for reading, unlocked, and found to be sound.
    private func verified(
        _ draft: borrowing TemporaryFile, _ root: borrowing SlotRootKey
    ) throws(Failure) -> OpenedKeychain {
        let opened = try KeychainFile(path: draft.path, locations: file.locations).open(
            isReadOnly: true, isBackup: true)
        do throws(KeychainFault) {
            try opened.keychain.keys.unlock(root: root)
            guard try opened.keychain.check().isConsistent else { throw .decode }
            return opened
        } catch {
            opened.keychain.close()
            throw Failure(.damaged, "\(file.path) could not be repaired, and is as it was. Restore a backup.")
        }
    }

    /// The log is emptied first: the next opening would take it for the new file's.
    private func replace(
        _ store: SQLiteRecordStore?, with draft: consuming TemporaryFile, keeping aside: consuming FileAside
    ) throws(Failure) {
        let isCurrent: Bool
        if let store {
            try reading { () throws(KeychainFault) in try store.checkpoint() }
            isCurrent = store.isInPlace && !SQLiteFileNames.hasLog(path)
        } else {
            isCurrent = aside.isCurrent
        }
        guard isCurrent else {
            throw Failure(.failure, "\(file.path) was moved or changed meanwhile. Nothing was changed by this repair.")
        }
        let kept = aside.path
        do throws(Errno) { try aside.publish() } catch { throw Failure(error, writing: kept) }
        // Later there may be one of somebody who has opened the new file.
        if let store {
            try reading { () throws(KeychainFault) in try store.removeLog() }
        } else {
            SQLiteFileNames.removeLog(of: path)
        }
        do throws(Errno) { try draft.replace() } catch { throw Failure(error, writing: file.path) }
    }

    private func keepCommitNumber(of repaired: OpenedKeychain, _ say: (String) -> Void) {
        do throws(KeychainFault) {
            try repaired.keychain.keys.setCommitNumber(in: commitNumberStore)
        } catch {
            say("warning: the commit number of the keychain cannot be kept; an older copy of it will not be told.")
        }
    }

    // MARK: Errors

    private func reading<Result>(
        _ body: () throws(KeychainFault) -> Result
    ) throws(Failure) -> Result {
        do throws(KeychainFault) { return try body() } catch { throw Failure(error, keychain: file.path) }
    }

    private func writing<Result: ~Copyable>(
        _ body: () throws(Errno) -> Result
    ) throws(Failure) -> Result {
        do throws(Errno) { return try body() } catch { throw Failure(error, writing: file.path) }
    }
}

/// What could be read of a file with damaged pages; gone with this object.
private final class SalvagedStore {
    let store: SQLiteRecordStore
    private let draft: TemporaryFile

    /// `path`: beside which there is room.
    init(_ aside: borrowing FileAside, beside path: String) throws(Failure) {
        do throws(Errno) {
            let source = try TemporaryFile(for: path)
            try aside.copy(to: source)
            let draft = try TemporaryFile(for: path)
            do throws(KeychainFault) {
                store = try SQLiteRecordStore.salvage(fileAt: source.path, to: draft.path)
            } catch {
                throw error == .diskFull ? .noSpace : .ioError
            }
            self.draft = draft
        } catch {
            throw Failure(error, writing: path)
        }
    }

    deinit { store.close() }
}
