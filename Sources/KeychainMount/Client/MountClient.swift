import FileSystemCore
package import Keychain
import KeychainConnection
import LinuxSupport
import SecretCrypto
import SystemPackage

/// A client of a mounted keychain, through its control files (contract, section 9).
package struct MountClient: Sendable {
    private let mountPoint: String
    /// The required owner of a mount that gets a secret.
    private let owner: MountOwner

    /// The time limit of a command: a key derivation of the highest cost, on a busy machine.
    package static let limit = Duration.seconds(600)
    /// The time limit of commands that read every row.
    package static let longLimit = Duration.seconds(86_400)

    package init(mountPoint: String, owner: MountOwner = .caller) {
        self.mountPoint = mountPoint
        self.owner = owner
    }

    /// Returns the status, or fails within seconds.
    package func status() throws(CLIError) -> StatusReport {
        let result = try statusJSON()
        do {
            return try StatusReport(json: result)
        } catch {
            throw CLIError(.failure, "\(mountPoint) gives no status that this version understands.")
        }
    }

    /// Fails if it is not the owner's mount, or its daemon does not respond. Called before the user enters a
    /// secret.
    package func checkOwner() throws(CLIError) { _ = try statusJSON(of: owner) }

    private func statusJSON(of owner: MountOwner = .anyone) throws(CLIError) -> [UInt8] {
        do throws(ControlRequest.Failure) { return try requestStatus(of: owner) } catch { throw failure(error) }
    }

    private func requestStatus(of owner: MountOwner) throws(ControlRequest.Failure) -> [UInt8] {
        try ControlRequest(
            mountPoint: mountPoint, file: .status, requirement: owner.requirement, limit: .zero
        ).ask([UInt8]().rawSpan)
    }

    /// Whether the daemon of a mount has ended. Not if it does not respond, or responds to another user only.
    var hasDaemonEnded: Bool {
        do throws(ControlRequest.Failure) {
            _ = try requestStatus(of: .anyone)
            return false
        } catch {
            return error.meansEndOfDaemon
        }
    }

    /// Whether the daemon does not respond.
    var isSilent: Bool {
        do throws(CLIError) {
            try requireResponse()
            return false
        } catch {
            return error.exitCode == .noAnswer
        }
    }

    /// Fails if an entry of the kernel's table is not the owner's mount. Does not access it: another user's daemon may refuse
    /// every request.
    func requireOwner(of entry: MountTable.Entry) throws(CLIError) {
        guard owner.requirement.accepts(entry) else { throw anotherUser(entry.fuseUserID ?? 0) }
    }

    /// Fails if the daemon does not respond or has ended, or it is not the owner's mount. An error that the daemon
    /// reports is a response. Does not parse the status, because parsing JSON takes longer than the request.
    ///
    /// - Parameter acceptsPart: Whether missing or inaccessible control files are a response: a bind mount of one directory has
    ///   none, and another user's daemon refuses them. The caller must verify the mount of the file that it opens then.
    package func requireResponse(acceptsPart: Bool = false) throws(CLIError) {
        do throws(ControlRequest.Failure) {
            _ = try requestStatus(of: owner)
        } catch {
            switch error {
            case .atOpen(.noSuchFileOrDirectory), .atOpen(.notDirectory), .atOpen(.permissionDenied):
                if acceptsPart { return }
            case .refused: if !error.meansEndOfDaemon { return }
            default: break
            }
            throw failure(error)
        }
    }

    /// Runs a command of `.keychainfs/control` and returns its result. Fails after `limit`, or within seconds if the
    /// daemon does not report its status.
    package func run(_ command: String, limit: Duration = Self.limit) throws(CLIError) -> [UInt8] {
        try send(try Self.message(command, count: 0), limit: limit, to: .anyone)
    }

    /// Runs a command with secret input in one write, directly from locked memory.
    ///
    /// - Parameter meaning: Maps an errno that is specific to this command; nil for all others.
    func run(
        _ command: String, secret: borrowing SecretBytes, meaning: (Errno) -> CLIError? = { _ in nil }
    ) throws(CLIError) -> [UInt8] {
        var message = try Self.message(command, count: secret.count)
        let end = message.count - secret.count
        var output = message.mutableBytes
        _ = output.write(secret.bytes, at: end)
        return try send(message, limit: Self.limit, to: owner, meaning)
    }

    /// Locks, without waiting for other commands of the daemon. A daemon that does not respond locks when it continues.
    package func lock() throws(CLIError) {
        do throws(ControlRequest.Failure) {
            _ = try ControlRequest(mountPoint: mountPoint, file: .lock, limit: Self.limit).order(Array("lock\n".utf8))
        } catch .silent {
            throw CLIError(
                .noAnswer,
                """
                The daemon of \(mountPoint) does not respond, and the keychain may still be unlocked. It is locked as soon as the daemon \
                continues: a process waits for that. If the daemon was stopped, continue it ('kill -CONT PID'); if it hangs, end it with \
                'kill -KILL PID', which wipes its keys, and its watchdog unmounts. 'pgrep -af "keychainfs mount"' shows its PID.
                """)
        } catch {
            throw failure(error)
        }
    }

    /// Warns of an unusual cost of the passphrase (``UnlockCost``) before the derivation.
    package func reportCost(of kind: SlotKind, showMessage: (String) -> Void) throws(CLIError) {
        guard kind.hasPassphrase else { return }
        let keychainName = "the keychain at \(mountPoint)"
        let list = try MountedSlotBackend(self, keychainName: keychainName).list()
        try list.reportCost(of: kind, keychainName: keychainName, showMessage: showMessage)
    }

    package func unlock(with secret: borrowing UnlockSecret, acceptingRollback: Bool) throws(CLIError) {
        let command = UnlockRequest(kind: secret.kind, acceptsRollback: acceptingRollback)
        do throws(CLIError) {
            _ = try run(command.line, secret: secret.bytes)
        } catch  where error.exitCode == .wrongPassphrase {
            throw CLIError(
                .wrongPassphrase,
                "\(secret.kind.subject) does not open the keychain at \(mountPoint). \(secret.kind.advice)")
        } catch  where error.exitCode == .locked {
            throw CLIError(
                .locked, "The keychain at \(mountPoint) was locked in the meantime, and stays locked. Unlock it again.")
        }
    }

    /// Returns the command's line, and space for `count` bytes after it.
    private static func message(_ command: String, count: Int) throws(CLIError) -> SecretBytes {
        let line = Array((command + "\n").utf8)
        guard var message = try? SecretBytes(count: line.count + count) else {
            throw CLIError(.failure, "There is no locked memory left for the passphrase.")
        }
        var output = message.mutableBytes
        _ = output.write(line.rawSpan)
        return message
    }

    private func send(
        _ message: borrowing SecretBytes, limit: Duration, to owner: MountOwner,
        _ meaning: (Errno) -> CLIError? = { _ in nil }
    ) throws(CLIError) -> [UInt8] {
        do throws(ControlRequest.Failure) {
            return try ControlRequest(
                mountPoint: mountPoint, file: .control, requirement: owner.requirement, limit: limit
            ).ask(message.bytes)
        } catch {
            if case .refused(let errno) = error, let failure = meaning(errno) { throw failure }
            throw failure(error)
        }
    }

    private func failure(_ error: ControlRequest.Failure) -> CLIError {
        switch error {
        case .untrusted(.anotherUser(let userID)): anotherUser(userID)
        case .atOpen(.permissionDenied):
            CLIError(.notMounted, "\(mountPoint) belongs to another user; only that user can reach it.")
        case .atOpen(.noSuchFileOrDirectory), .atOpen(.notDirectory), .atOpen(.tooManySymbolicLinkLevels),
            .untrusted(.anotherFileSystem):
            CLIError(.notMounted, "No keychain is mounted at \(mountPoint). Mount one with 'keychainfs mount'.")
        case .atOpen(.socketNotConnected):
            CLIError(
                .notMounted, "The daemon of \(mountPoint) has died. 'keychainfs mount' cleans up and mounts again.")
        case _ where error.meansEndOfDaemon:
            CLIError(.notMounted, "The daemon of \(mountPoint) has ended: nothing is mounted there any more.")
        case .atOpen(let errno): CLIError(.failure, "The keychain at \(mountPoint) does not respond: \(errno).")
        case .refused(let errno): refusal(errno)
        case .silent:
            CLIError(
                .noAnswer,
                """
                The daemon of \(mountPoint) does not respond. If it was stopped, continue it ('kill -CONT PID'); if it hangs, \
                end it with 'kill -KILL PID', and its watchdog unmounts. 'pgrep -af keychainfs' shows its PID.
                """)
        case .noHelper(let errno):
            CLIError(
                .failure,
                "No process can be started to ask the daemon: \(errno). Limits of this shell ('ulimit -a') may be why.")
        }
    }

    private func anotherUser(_ userID: UInt32) -> CLIError {
        CLIError(
            .notMounted,
            """
            \(mountPoint) is the mount of another user (\(userID)), and gets none of your secrets. Root names that user \
            with --owner or \(MountOwner.variable) to use it anyway.
            """)
    }

    private func refusal(_ errno: Errno?) -> CLIError {
        switch errno {
        case Errno(rawValue: 129):
            return CLIError(.wrongPassphrase, "The passphrase does not open the keychain at \(mountPoint). Try again.")
        case Errno(rawValue: 126):
            return CLIError(.locked, "The keychain at \(mountPoint) is locked. Unlock it with 'keychainfs unlock'.")
        case Errno.staleNFSFileHandle:
            return CLIError(
                .rolledBack,
                """
                The keychain at \(mountPoint) is OLDER than the state that this device has seen, another copy, or does not \
                belong to this device's record of that state, which may be missing, damaged or forged. It stays locked. Only if you put an old \
                copy there yourself, accept it with --accept-rollback; after 'keychainfs unmount', 'keychainfs mount' says which it is.
                """)
        case Errno.keyRevoked:
            return CLIError(.replacedUserKey, keychain: "The keychain at \(mountPoint)")
        case Errno.corrupt:
            return CLIError(
                .badKeychain,
                """
                The file of the keychain at \(mountPoint) is damaged, or another copy was written over it while it was mounted \
                ('keychainfs status' shows that). Nothing was changed. Unmount it; 'keychainfs check' reports the damage.
                """)
        case Errno.noSpace:
            return CLIError(
                .diskFull, "The disk with the keychain of \(mountPoint) is full. Free some space and try again.")
        case Errno.ioError:
            return CLIError(
                .failure,
                """
                The disk with the keychain of \(mountPoint), or with the data of this device, reports an error (Input/output error). \
                Check the disk.
                """)
        case Errno.readOnlyFileSystem:
            return CLIError(
                .readOnly,
                """
                The keychain of \(mountPoint) is on a read-only medium, where the daemon cannot make its copy. \
                'keychainfs unmount' it and try again.
                """)
        case Errno.resourceBusy:
            return CLIError(
                .inUse, "The daemon of \(mountPoint) is at such a command already. Try again when it is done.")
        case Errno.noMemory:
            return CLIError(.failure, "The daemon has not enough memory for the key derivation.")
        default:
            return CLIError(
                .failure,
                "The keychain at \(mountPoint) refused the command (\(errno.map(String.init(describing:)) ?? "unknown error"))."
            )
        }
    }
}
