import ArgumentParser
import DeviceState
import Glibc
import KeychainMount
import LinuxSupport

/// `keychainfs`: the commands of the contract, section 8.
@main
struct KeychainFS: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keychainfs",
        abstract: "An encrypted keychain that you can ls.",
        discussion: """
            A mount shows the items of a keychain as files: MOUNTPOINT/generic-passwords/SERVICE/ACCOUNT. Their contents \
            are the secrets, their extended attributes (getfattr, setfattr) the keychain attributes. Writing adds or \
            updates an item, unlinking deletes it.

            A passphrase is read from the terminal, from --passphrase-file FILE ('-' for standard input; one trailing \
            newline is dropped), or from the file that KEYCHAINFS_PASSPHRASE_FILE names.
            """,
        version: "0.1.0",
        subcommands: [
            CreateCommand.self, MountCommand.self, UnmountCommand.self, LockCommand.self, UnlockCommand.self,
            StatusCommand.self, AddCommand.self, EditCommand.self, GenerateCommand.self, GetCommand.self,
            OTPCommand.self,
            RunCommand.self, CopyCommand.self, TreeCommand.self, WhyCommand.self, HelperCommand.self, ShowCommand.self,
            SearchCommand.self, ConfigCommand.self,
            CheckCommand.self,
            BackupCommand.self, RestoreCommand.self, SlotCommand.self, RekeyCommand.self, DoctorCommand.self,
            WatchdogCommand.self, HoldClipboardCommand.self, MountHelperCommand.self, CompleteCommand.self,
        ])

    /// The beginning of every message, also of the parser's (``Console/message(_:)``).
    static let _errorPrefix = "keychainfs: "

    /// mount(8) does not name a command.
    static func main() {
        MemorySetup.prepare()
        if let words = ProgramLink.words(of: ProgramArguments.all) { return main(words) }
        let helper = MountHelperArguments(
            ProgramArguments.all, commands: configuration.subcommands.map { $0._commandName } + ["help"])
        let words = Array(ProgramArguments.all.dropFirst())
        if helper.arguments == nil { checkCommand(words) }
        main(helper.arguments ?? ProgramWords().completed(OptionalValues().completed(words)))
    }

    /// Without a command: prints the mounted keychains if standard output is a terminal, otherwise the help.
    func run() throws {
        guard isatty(STDOUT_FILENO) == 1 else { throw CleanExit.helpRequest() }
        try reporting(settings: .optional) { () throws(CLIError) in
            let overview = Overview(
                keychain: KeychainPath(named: nil), mountPoint: DefaultPaths().mountPoint)
            try Console.result(overview.text)
        }
    }

    /// Ends the process if the command does not exist.
    private static func checkCommand(_ words: [String]) {
        guard let unknown = UnknownCommand(words, of: CommandName(Self.self)) else { return }
        Console.message(unknown.message(mountPoint: DefaultPaths().mountPoint))
        exit(withError: ArgumentParser.ExitCode(KeychainMount.ExitCode.usage.rawValue))
    }
}

extension CommandName {
    fileprivate init(_ command: any ParsableCommand.Type) {
        let configuration = command.configuration
        self.init(
            command._commandName, isShown: configuration.shouldDisplay,
            subcommands: configuration.subcommands.map { CommandName($0) })
    }
}

/// The option that names the keychain.
struct KeychainOption: ParsableArguments {
    @Option(
        name: .customLong("keychain"),
        help: ArgumentHelp(
            "The keychain: a name, or a path, which contains a '/'. (default: login)",
            discussion: "The name NAME is the file ~/.local/share/keychainfs/NAME.keychain."),
        completion: .file())
    var name: String?

    var file: KeychainPath { KeychainPath(named: name) }

    func validate() throws {
        try requireKeychainName(name)
    }
}

/// The argument that names the mount point.
struct MountPointArgument: ParsableArguments {
    @Argument(
        help: "Where the keychain is mounted. (default: KEYCHAINFS_MOUNT or ~/Keychain)",
        completion: .directory)
    var mountPoint: String?

    var path: String { DefaultPaths.absolute(mountPoint ?? DefaultPaths().mountPoint) }

    func validate() throws {
        try requireFileName(mountPoint, of: "mount point")
    }
}

/// The options that name the unlock secret.
struct UnlockOptions: ParsableArguments {
    // No option groups here: a debug build of ArgumentParser validates nested groups so often that commands took nearly
    // twice as long to start.
    @Option(name: .customLong("passphrase-file"), help: passphraseFileHelp, completion: .file())
    var passphraseFile: String?
    @Option(
        name: .customLong("key-file"), help: "Unlock with the contents of this file instead of a passphrase.",
        completion: .file())
    var keyFile: String?
    @Flag(name: .customLong("with-passphrase"), help: withPassphraseHelp)
    var withPassphrase = false
    @Flag(help: "Unlock with the recovery key: asked for, or read from --passphrase-file.")
    var recovery = false

    func validate() throws {
        try requireFileName(keyFile, of: "key file")
        guard keyFile != nil else {
            if withPassphrase { throw ValidationError("--with-passphrase needs a --key-file.") }
            return
        }
        if recovery { throw ValidationError("--key-file and --recovery exclude each other.") }
        guard passphraseFile == nil || withPassphrase else {
            throw ValidationError("--key-file and --passphrase-file exclude each other, except with --with-passphrase.")
        }
    }

    /// Whether an option names the unlock secret.
    var isNamed: Bool { keyFile != nil || recovery || passphraseFile != nil }

    /// The source of the unlock secret. The variable refers to passphrases only: a recovery key is read from a file
    /// only on request.
    var source: UnlockSource {
        if let keyFile {
            let file = KeyFile(path: DefaultPaths.absolute(keyFile))
            guard withPassphrase else { return .keyFile(file) }
            return .passphraseAndKeyFile(PassphraseSource(option: passphraseFile), file)
        }
        return recovery
            ? .recoveryKey(PassphraseSource(file: passphraseFile))
            : .passphrase(PassphraseSource(option: passphraseFile))
    }
}

/// The help of `--with-passphrase`.
let withPassphraseHelp: ArgumentHelp =
    "The key file unlocks only together with a passphrase: asked for, or read from --passphrase-file."

/// The help of `--passphrase-file` for the passphrase of the keychain.
let passphraseFileHelp: ArgumentHelp = "Read the passphrase from this file; '-' is standard input."

extension PassphraseSource {
    /// Creates the source: the file of the option, otherwise that of KEYCHAINFS_PASSPHRASE_FILE, otherwise the
    /// terminal.
    init(option file: String?) { self.init(file: file ?? DefaultPaths().passphraseFile) }
}
