import ArgumentParser
import DeviceState
import KeychainMount

struct MountCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mount", abstract: "Mount a keychain as a directory.",
        usage: "keychainfs mount [OPTION …] [MOUNTPOINT]\n       keychainfs mount [OPTION …] KEYCHAIN MOUNTPOINT",
        discussion: "Goes to the background when the mount is ready. Only the mounting user can reach it.")

    @OptionGroup var keychain: KeychainOption
    @OptionGroup var mountOptions: MountTargetOptions
    @OptionGroup var unlocking: UnlockOptions
    @Flag(name: .shortAndLong, help: "Stay in the foreground; log to standard error.")
    var foreground = false
    @Flag(help: "Create the keychain if it does not exist.")
    var create = false
    @Flag(
        help: ArgumentHelp(
            "Ask for no passphrase.",
            discussion: """
                Items of the classes Always and AlwaysThisDeviceOnly can be read, everything else answers 'Required key not \
                available', until 'keychainfs unlock'.
                """))
    var locked = false
    @Flag(help: "Accept a keychain that is older than the state that this device has seen.")
    var acceptRollback = false
    @OptionGroup var locks: LockOptions
    @Flag(
        help: ArgumentHelp(
            "Sleep as soon as there is nothing to do.",
            discussion: """
                After each request the daemon asks the kernel for 50 microseconds whether there is another one, which makes \
                reading several times faster than waking it up would. It does not where that does not pay.
                """))
    var noSpin = false
    @Option(
        name: .customShort("o"),
        help: ArgumentHelp(
            "Mount options, separated by commas.",
            discussion: """
                ro: read-only. allow_other: other users come in, and mode and owner of each item decide; allow_root: root \
                comes in. Ordinary users need 'user_allow_other' in /etc/fuse.conf for both. fsname=NAME: what mount(8) \
                shows as the source. passphrase_file=FILE: a file of root or yours with mode 0600; key_file=FILE: likewise a key \
                file. locked, lock_after=DURATION, lock_at_most=DURATION, lock_on=EVENT, no_spin: as the options of these names. \
                staged_limit=MIB: how much memory values that are being written, and long ones that are open, may take \
                together; 64 unless given. Another user gets a quarter of it. noexec. \
                Options that are for mount(8) and systemd (defaults, nofail, x-...) are passed over.
                """, valueName: "options"))
    var options: [String] = []
    @Flag(name: .customLong("in-background"), help: .private)
    var inBackground = false
    @Option(name: .customLong("secret-kind"), help: .private)
    var secretKind: String?

    func validate() throws {
        if keychain.name != nil, mountOptions.second != nil {
            throw ValidationError("The keychain is named twice: with --keychain and before the mount point.")
        }
        if locked, unlocking.isNamed {
            throw ValidationError("--locked unlocks nothing: leave out --passphrase-file, --key-file and --recovery.")
        }
    }

    /// The flags that are also mount options.
    private var flagOptions: [String] {
        [("locked", locked), ("no_spin", noSpin)].compactMap { name, isSet in isSet ? name : nil }
    }

    private func optionList() throws(CLIError) -> MountOptionList {
        let texts = options + locks.mountOptions + flagOptions
        guard !inBackground else { return try MountOptionList(texts) }
        let namesSecret = unlocking.isNamed || DefaultPaths().passphraseFile != nil
        return try MountOptionList(
            texts, settings: Settings.current.mountOptions, overridden: namesSecret ? ["passphrase_file"] : [])
    }

    func run() throws {
        // The process in the background has received all settings.
        try reporting(hasSecrets: true, settings: inBackground ? .none : .required) { () throws(CLIError) in
            let options = try optionList()
            let operation = MountOperation(
                keychain: mountOptions.keychain ?? keychain.file, mountPoint: mountOptions.mountPoint, options: options,
                isForeground: foreground, makesKeychain: create, acceptsRollback: acceptRollback,
                inheritedKind: secretKind)
            if inBackground {
                operation.runInBackground(showMessage: Console.message)
            } else {
                try operation.run(unlocking: options.unlockSource(else: unlocking.source), showMessage: Console.message)
            }
        }
    }
}

/// The keychain and the mount point: `[MOUNTPOINT]`, or `KEYCHAIN MOUNTPOINT` as with mount(8).
struct MountTargetOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The mount point, or the keychain if a mount point follows. (default: KEYCHAINFS_MOUNT or ~/Keychain)",
            valueName: "keychain-or-mount-point"), completion: .file())
    var first: String?
    @Argument(
        help: ArgumentHelp("The mount point, after a keychain.", valueName: "mount-point"),
        completion: .directory)
    var second: String?

    /// The keychain; nil if the command line does not name it here.
    var keychain: KeychainPath? { second == nil ? nil : KeychainPath(named: first) }
    var mountPoint: String { DefaultPaths.absolute(second ?? first ?? DefaultPaths().mountPoint) }

    func validate() throws {
        if second != nil { try requireKeychainName(first) }
        try requireFileName(second ?? first, of: "mount point")
    }
}

/// The conditions of automatic locks.
struct LockOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Lock when no secret was read or written for so long: 90s, 15m, 1h30m, 2d.", valueName: "duration"))
    var lockAfter: String?
    @Option(help: ArgumentHelp("Lock so long after each unlock, in use or not.", valueName: "duration"))
    var lockAtMost: String?
    @Option(
        help: ArgumentHelp(
            "Lock on 'suspend', 'screen' (when it is locked), or 'suspend,screen'.", valueName: "events"),
        completion: .list(["suspend", "screen", "suspend,screen"]))
    var lockOn: String?

    /// The options as mount options. They override mount options given with `-o`.
    var mountOptions: [String] {
        [("lock_after", lockAfter), ("lock_at_most", lockAtMost), ("lock_on", lockOn)].compactMap { name, value in
            value.map { "\(name)=\($0.replacing(",", with: "\\,"))" }
        }
    }
}

/// A hidden command: mount(8) runs it for a line of fstab(5), by way of ``MountHelperArguments``.
struct MountHelperCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mount-helper", abstract: "Mount for mount(8): SOURCE is the keychain file.", shouldDisplay: false)

    @Argument(help: "The keychain file.") var source: String
    @Argument(help: "Where it is mounted.") var mountPoint: String
    @Option(name: .customShort("o"), help: "Mount options, as of 'keychainfs mount'.") var options: [String] = []
    @Option(name: .customShort("t"), help: "The type: fuse.keychainfs.") var type: String?
    @Flag(name: .customShort("f"), help: "Pretend.") var pretends = false
    @Flag(name: .customShort("s"), help: "Pass over unknown options.") var isSloppy = false
    @Flag(name: .customShort("n"), help: "No effect.") var writesNoTable = false
    @Flag(name: .customShort("v"), help: "No effect.") var isVerbose = false

    func validate() throws {
        try requireFileName(source, of: "keychain file")
        try requireFileName(mountPoint, of: "mount point")
    }

    func run() throws {
        ProcessSetup.correctHome()
        try reporting(hasSecrets: true, settings: .none) { () throws(CLIError) in
            let options = try MountOptionList(options, isSloppy: isSloppy)
            guard !pretends else { return }
            let operation = MountOperation(
                keychain: KeychainPath(path: DefaultPaths.absolute(source)),
                mountPoint: DefaultPaths.absolute(mountPoint),
                options: options,
                isForeground: false, makesKeychain: false, acceptsRollback: false)
            let other = UnlockSource.passphrase(PassphraseSource(option: nil))
            try operation.run(unlocking: options.unlockSource(else: other), showMessage: Console.message)
        }
    }
}

/// A hidden command: the process that unmounts after the daemon has died.
struct WatchdogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "guard", shouldDisplay: false)

    @Option var type: String
    @Argument var mountPoint: String

    func run() throws {
        MountOperation.runWatchdog(mountPoint: mountPoint, type: type)
    }
}
