import DeviceState
import Foundation
import Fuse
import Keychain
import LinuxSupport
import SecretCrypto

/// The complete life of a mount, from the command line to the unmount, as `keychainfs mount` does it.
package struct MountOperation: Sendable {
    /// The file system subtype, which mount(8) shows after `fuse.`.
    package static let subtype = "keychainfs"
    /// The option that marks the process in the background.
    package static let backgroundOption = "--in-background"
    /// The option with the type of the secret that the process in the background receives.
    package static let kindOption = "--secret-kind"

    let file: KeychainPath
    let mountPoint: String
    let options: MountOptionList
    let isForeground: Bool
    let makesKeychain: Bool
    let acceptsRollback: Bool
    /// The type of the secret that the process in the background receives.
    private let inheritedKind: SlotKind

    package init(
        keychain: KeychainPath, mountPoint: String, options: MountOptionList, isForeground: Bool, makesKeychain: Bool,
        acceptsRollback: Bool, inheritedKind: String? = nil
    ) {
        self.inheritedKind = inheritedKind.flatMap(SlotKind.init(name:)) ?? .passphrase
        file = keychain
        self.mountPoint = mountPoint
        self.options = options
        self.isForeground = isForeground
        self.makesKeychain = makesKeychain
        self.acceptsRollback = acceptsRollback
    }

    /// Runs in the user's process: reads the unlock secret, then serves, or starts the daemon and returns when the
    /// mount is ready.
    package func run(unlocking source: UnlockSource, showMessage: @escaping @Sendable (String) -> Void) throws(CLIError)
    {
        try checkOptions()
        try checkPlace()
        if file.exists { file.reportFiles(showMessage) }
        let secret = try keychainSecret(source, showMessage)
        if isForeground {
            TerminationSignals.block()
            LogTarget.standardError.start()
            try MountDaemon(self, showMessage: showMessage).serve(with: secret) {
                ServiceNotification.ready.send()
                return true
            }
            ServiceNotification.stopping.send()
        } else {
            try startDaemon(secret)
        }
    }

    /// Runs in the process that ``run(unlocking:showMessage:)`` has started. Messages are visible until the mount is
    /// ready.
    package func runInBackground(showMessage: @escaping @Sendable (String) -> Void) {
        TerminationSignals.block()
        Self.leaveDirectory()
        LogTarget.system.start()
        let report = ReadinessReport(ReadinessPipe())
        do throws(CLIError) {
            let secret: UnlockSecret? = options.startsLocked ? nil : try inheritedSecret()
            try MountDaemon(self, showMessage: showMessage).serve(with: secret) { report.ready() }
        } catch {
            report.failed(error)
        }
    }

    /// Runs in the watchdog process, which cleans up after a daemon that has died.
    package static func runWatchdog(mountPoint: String, type: String) {
        leaveDirectory()
        var process = WatchdogProcess(mountPoint: mountPoint, type: type)
        process.run()
    }

    /// Leaves the working directory, because a daemon must not keep its file system busy.
    private static func leaveDirectory() {
        _ = FileManager.default.changeCurrentDirectoryPath("/")
    }

    // MARK: Before the daemon

    private func checkOptions() throws(CLIError) {
        guard options.startsLocked, acceptsRollback else { return }
        throw CLIError(
            .usage,
            "'--locked' compares nothing yet: give '--accept-rollback' to 'keychainfs unlock', the first one, if need be."
        )
    }

    /// Checks everything that can be checked before the passphrase is requested.
    private func checkPlace() throws(CLIError) {
        try cleanStale()
        createDefaultMountPoint()
        do throws(MountPointError) {
            _ = try MountDirectory(at: mountPoint)
        } catch {
            if error == .missing { try checkWhetherItIsAName() }
            // A file may be the keychain, which helps more than a message about the default keychain.
            if error != .notDirectory { try checkKeychain() }
            throw CLIError(error, mountPoint: mountPoint)
        }
        guard !MountedKeychains.contain(mountPoint) else {
            throw CLIError(.badMountPoint, "\(mountPoint) is in a mounted keychain. Name a directory on a disk.")
        }
        try checkKeychain()
        if let other = MountedKeychains.mountPoint(of: file.path), file.exists {
            throw file.inUse(mountedAt: other)
        }
    }

    private func checkKeychain() throws(CLIError) {
        guard file.exists || makesKeychain else { throw file.missing }
    }

    /// Fails if the missing mount point has the name of a keychain and no other keychain is named: `mount work`.
    private func checkWhetherItIsAName() throws(CLIError) {
        let name = URL(fileURLWithPath: mountPoint).lastPathComponent
        let keychain = KeychainPath(named: name)
        guard file.isDefault, KeychainPath.isPathOrName(name), keychain.exists else { return }
        throw CLIError(
            .badMountPoint,
            """
            \(mountPoint) does not exist. If it is the keychain \(keychain.path), name its mount point too: \
            'keychainfs mount \(keychain.argument) MOUNTPOINT'. Otherwise create it with 'mkdir \(ShellWord.quoted(mountPoint))'.
            """)
    }

    /// Creates the default mount point if necessary. If that fails, the following check reports the reason.
    private func createDefaultMountPoint() {
        guard file.exists || makesKeychain, mountPoint == DefaultPaths.absolute(file.locations.defaultMountPoint) else {
            return
        }
        try? FileManager.default.createDirectory(
            atPath: mountPoint, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    /// H4: removes a dead mount. The check accesses the mount, so it follows after it is known that a daemon responds.
    private func cleanStale() throws(CLIError) {
        guard MountedKeychains.isMounted(at: mountPoint) else { return }
        do throws(CLIError) {
            _ = try MountClient(mountPoint: mountPoint).status()
        } catch  where error.exitCode == .noAnswer {
            throw error
        } catch {
            _ = try? StaleMount.clean(at: mountPoint, type: MountedKeychains.type)
        }
    }

    private func keychainSecret(_ source: UnlockSource, _ showMessage: (String) -> Void) throws(CLIError)
        -> UnlockSecret?
    {
        guard !file.exists else {
            if options.startsLocked { return nil }
            return try source.read(for: file.shownName, showMessage: showMessage)
        }
        guard case .passphrase(let passphrase) = source else {
            throw CLIError(
                .usage,
                "There is no keychain at \(file.path), and a new one is created with a passphrase: 'keychainfs slot add' adds "
                    + "other ways to unlock it.")
        }
        let secret = try passphrase.readNew(for: file.shownName, showMessage: showMessage)
        try file.create(passphrase: secret, cost: KDFCostOption.standard.cost)
        showMessage("created \(file.path).")
        if options.startsLocked { return nil }
        return UnlockSecret(passphrase: secret)
    }

    private func startDaemon(_ secret: consuming UnlockSecret?) throws(CLIError) {
        let report: LaunchResult
        do {
            if let secret {
                report = try DaemonLauncher.start(
                    arguments: daemonArguments(secret.kind), secret: secret.bytes.bytes)
            } else {
                report = try DaemonLauncher.start(arguments: daemonArguments(.passphrase), secret: [UInt8]().rawSpan)
            }
        } catch {
            throw CLIError(
                .failure,
                "The daemon cannot be started: \(error). Limits of this shell ('ulimit -a') can be the reason: -n, -u, -v."
            )
        }
        switch report {
        case .ready: return
        case .failed(let code, let message): throw CLIError(ExitCode(rawValue: code) ?? .failure, message)
        case .died(let status) where TerminationSignals.ending.contains(status - 128):
            throw CLIError(.failure, "Signal \(status - 128) ended the daemon before the keychain was mounted.")
        case .died(let status):
            throw CLIError(
                .failure, "The daemon ended without a word (status \(status)). Try --foreground, or look in the log.")
        }
    }

    private func daemonArguments(_ kind: SlotKind) -> [String] {
        ["mount", "--keychain", file.path, Self.backgroundOption, Self.kindOption, kind.name] + options.arguments
            + (acceptsRollback ? ["--accept-rollback"] : []) + ["--", mountPoint]
    }

    private func inheritedSecret() throws(CLIError) -> UnlockSecret {
        guard ProcessHardening.apply().undumpable else {
            throw CLIError(.failure, "The system does not protect the memory of the daemon: it requests no secret.")
        }
        do {
            try DaemonLauncher.requestSecret()
            let bytes = try SecretBytes.read(
                from: DaemonLauncher.secretDescriptor, limit: DaemonLauncher.maximumSecret)
            return try UnlockSecret(kind: inheritedKind, bytes: bytes)
        } catch {
            throw CLIError(.failure, "The daemon received no unlock secret.")
        }
    }
}

extension CLIError {
    /// Maps the reason why a directory cannot be a mount point to a message with the remedy.
    init(_ error: MountPointError, mountPoint: String) {
        let advice =
            switch error {
            case .missing: "\(mountPoint) does not exist. Create it with 'mkdir \(ShellWord.quoted(mountPoint))'."
            case .notDirectory:
                """
                \(mountPoint) is not a directory. Name an empty one; if this is the keychain, name its mount point too: \
                'keychainfs mount \(ShellWord.quoted(mountPoint)) MOUNTPOINT'.
                """
            case .notEmpty: "\(mountPoint) is not empty. Name an empty directory: a mount would hide its contents."
            case .alreadyMounted(MountedKeychains.type):
                """
                A keychain is mounted at \(mountPoint) already, and keeps the options of its mount. To change them, \
                '\(MountPointCommand.text("unmount", mountPoint))' it, and mount it with the new ones. For another keychain, name another directory.
                """
            case .alreadyMounted(let type):
                "Something is mounted at \(mountPoint) already (\(type)). Unmount it first, or name another directory."
            case .notOwned: "\(mountPoint) belongs to another user. Name one of your directories."
            case .system(let error, _): "\(mountPoint) cannot be mounted on: \(error)."
            }
        self.init(.badMountPoint, advice)
    }

    /// Maps the reason why mounting failed to a message with the remedy.
    init(_ error: FuseError, mountPoint: String) {
        switch error {
        case .deviceMissing, .deviceDenied, .helperMissing: self.init(.noFuse, "Cannot mount: \(error).")
        case .mountRefused(let message) where message.contains("user_allow_other"):
            self.init(
                .noFuse,
                "'allow_other' and 'allow_root' are refused to ordinary users here. The administrator permits them with a "
                    + "line 'user_allow_other' in /etc/fuse.conf; or mount as root.")
        default: self.init(.noFuse, "\(mountPoint) cannot be mounted: \(error).")
        }
    }
}
