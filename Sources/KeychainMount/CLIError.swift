package import Keychain
internal import SystemPackage

/// The exit codes of `keychainfs`: stable, listed in docs/exit-codes.md, never renumbered.
package enum ExitCode: Int32, CaseIterable, Sendable {
    case success = 0
    /// An error without a more specific code.
    case failure = 1
    /// The passphrase opens no key slot.
    case wrongPassphrase = 10
    /// The keychain does not exist.
    case noKeychain = 11
    /// The file is not a keychain, or is damaged.
    case badKeychain = 12
    /// The keychain has a format, or a cost of key derivation, that this version does not accept.
    case unknownFormat = 13
    /// Another process has the keychain, or a file of its mount, open.
    case inUse = 14
    /// The mount point does not exist, is not empty, is not a directory, or is in use by a mount.
    case badMountPoint = 15
    /// `/dev/fuse` or `fusermount3` does not exist, or the kernel refused the mount.
    case noFuse = 16
    /// No keychain is mounted there.
    case notMounted = 17
    /// No passphrase was given, or its file cannot be used.
    case noPassphrase = 18
    /// The disk is full.
    case diskFull = 19
    /// The keychain exists already.
    case exists = 20
    /// Damage was found, in a keychain or in an item.
    case damaged = 21
    /// The keychain or its medium is read-only.
    case readOnly = 22
    /// The item is locked.
    case locked = 23
    /// The keychain is older than the state that this device has seen: a copy was restored.
    case rolledBack = 24
    /// The key slot does not exist, or the change of slots is refused.
    case slotRefused = 25
    /// There is no such item.
    case notFound = 26
    /// The name, the value or the attribute is not possible there, or is not what the command needs.
    case impossible = 29
    /// The daemon of a mount does not respond.
    case noAnswer = 30
    /// A mode or an owner denies the access.
    case noPermission = 31
    /// The program that `run` names cannot be executed; as env(1).
    case notExecutable = 126
    /// The program that `run` names does not exist; as env(1).
    case noProgram = 127
    /// A signal has ended the progress display; the operation continues. 128 plus SIGINT, as in shells.
    case interrupted = 130
    /// An invalid command line; EX_USAGE of sysexits(3).
    case usage = 64
}

/// The error that ends a command: a message with instructions for the user, and an exit code.
package struct CLIError: Error, Sendable {
    package let exitCode: ExitCode
    package let message: String

    package init(_ exitCode: ExitCode, _ message: String) {
        self.exitCode = exitCode
        self.message = message
    }
}

extension CLIError {
    /// Maps a fault of a keychain to a message for the user.
    package init(_ error: KeychainFault, keychain path: String) {
        switch error {
        case .authFailed:
            self.init(.wrongPassphrase, "The passphrase does not open \(path). Try again.")
        case .notAKeychain:
            self.init(.badKeychain, "\(path) is not a keychain. Name another file with --keychain.")
        case .unknownFormat(1):
            self.init(
                .unknownFormat,
                """
                \(path) is a keychain of an unreleased version of keychainfs (store format 1). To move its items, mount it with that \
                version and copy them into a new keychain with cp -a.
                """)
        case .unknownFormat(let format):
            self.init(
                .unknownFormat,
                "\(path) has format \(format), which this version does not know. Use a newer keychainfs.")
        case .unknownFeature:
            self.init(
                .unknownFormat, "\(path) uses a feature that this version does not know. Use a newer keychainfs.")
        case .unacceptableCost:
            self.init(
                .unknownFormat,
                "\(path) asks for a key derivation outside the accepted limits (2 GiB, 10 passes). It may be forged.")
        case .decode, .rowsDiffer:
            self.init(
                .badKeychain,
                """
                \(path) is damaged. Restore a backup ('keychainfs restore --replace BACKUP' keeps this file under another name), or let \
                'keychainfs check --repair' save the intact items.
                """)
        case .inUse(let processID):
            let holder = processID > 0 ? "process \(processID)" : "another process"
            self.init(
                .inUse,
                """
                \(path) is in use by \(holder). Unmount it there first ('keychainfs status' shows where it is mounted; if it \
                is mounted nowhere any more, a program still has a file of it open).
                """)
        case .diskFull:
            self.init(.diskFull, "The disk with \(path) is full. Free some space and try again.")
        case .readOnly:
            self.init(
                .readOnly,
                "\(path) is on a read-only medium. A keychain that was closed properly can be mounted with '-o ro'.")
        case .allocate:
            self.init(.failure, "There is not enough memory for the key derivation or for locked memory.")
        case .rolledBack(let kept, let found):
            self.init(
                .rolledBack,
                """
                \(path) is OLDER than the state that this device has seen (commit \(found), after \(kept)): it was replaced by \
                an old copy. It stays locked. If you replaced it, accept it with 'keychainfs mount \
                --accept-rollback'; to examine an old copy, use 'keychainfs backup --verify'.
                """)
        case .forked(let commit):
            self.init(
                .rolledBack,
                """
                \(path) is ANOTHER COPY than the one that this device has seen: two machines have changed copies of the same \
                state (commit \(commit)). It stays locked. To continue with this copy, 'keychainfs mount --accept-rollback'.
                """)
        case .missingChanges(let mark):
            self.init(
                .rolledBack,
                """
                \(path) is ANOTHER COPY than the one that this device has changed last (commit \(mark)): it lacks these \
                changes, because another machine has changed a copy without them. It stays locked. Look for the copy with them: \
                a conflict copy or an earlier version of the file, or a backup. 'keychainfs mount -o ro --accept-rollback --keychain \
                ./COPY DIRECTORY' shows what is in a copy, and changes nothing. To continue with this one, 'keychainfs mount --accept-rollback'.
                """)
        case .missingCommitNumber:
            self.init(
                .rolledBack,
                """
                This device has used \(path) before, but its file that detects an older copy (commit-number.*, next to the \
                device key) is missing: it is unknown whether this is the newest copy. It stays locked. If you removed that \
                file, accept the keychain with 'keychainfs mount --accept-rollback'.
                """)
        case .replacedUserKey:
            self.init(
                .rolledBack,
                """
                \(path) is an OLDER copy, from before key slots were removed or changed, or before a rekey. The holders \
                of those slots can open it, and may have changed it. It stays locked. Put the newest copy back. Only if you put this one \
                there yourself, accept it with 'keychainfs mount --accept-rollback', and remove those slots again.
                """)
        case .untrustedCommitNumber:
            self.init(
                .rolledBack,
                """
                \(path) and the data of this device that detects an older copy (commit-number.*, next to the device key) do \
                not belong together. Either that data is damaged or forged, or the holder of a slot that was removed since has made \
                this copy, to read later values. It stays locked. Only if you know the cause, accept it with 'keychainfs mount \
                --accept-rollback'.
                """)
        case .io(let code):
            let reason = code < 0 ? "\(Errno(rawValue: -code))" : "error \(code) of SQLite"
            // 10: SQLITE_IOERR.
            let advice = code < 0 || code & 0xFF == 10 ? " Check the disk. This does not mean damage." : ""
            self.init(.failure, "\(path) cannot be read or written: \(reason).\(advice)")
        case .deviceFile(let code):
            self.init(
                .failure,
                """
                The file by which this device detects an older copy of \(path) (commit-number.*, next to the device key) cannot be \
                read: \(Errno(rawValue: -code)). The keychain stays locked. Check the disk and the owner of that file.
                """)
        default:
            self.init(.failure, "\(path): \(error).")
        }
    }
}
