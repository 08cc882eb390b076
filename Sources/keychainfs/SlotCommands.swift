import ArgumentParser
import DeviceState
import Foundation
import KeychainMount

struct SlotCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "slot", abstract: "List, add, change and remove the ways to unlock a keychain.",
        discussion: """
            A keychain has key slots: passphrases, recovery keys (36 characters to write down), key files, and key files that \
            need a passphrase as well. Any one of them unlocks it. Each change asks for the secret of an existing slot, also if the keychain is mounted and unlocked; none \
            re-encrypts items.

            Exit codes: 0 done; 10 the secret opens no slot; 14 in use; 18 no passphrase or key file; 22 read-only; 23 not unlocked \
            since the mount; 25 no such slot, the last slot, or items would be deleted; 19 or 1 after a change: done, but this \
            device could not record it.
            """,
        subcommands: [SlotListCommand.self, SlotAddCommand.self, SlotChangeCommand.self, SlotRemoveCommand.self])
}

/// The keychain whose slots are meant: a mounted one, or a keychain file.
struct SlotTargetOptions: ParsableArguments {
    @OptionGroup var keychain: KeychainOption
    @Argument(help: "Where the keychain is mounted, if it is not named with --keychain.", completion: .directory)
    var mountPoint: String?
    @Option(help: mountOwnerHelp)
    var owner: String?

    func validate() throws {
        try requireFileName(mountPoint, of: "mount point")
        if mountPoint != nil, keychain.name != nil {
            throw ValidationError("--keychain and a mount point exclude each other.")
        }
    }

    func editing() throws(CLIError) -> SlotCommandRunner {
        SlotCommandRunner(
            keychain: keychain.file, mountPoint: mountPoint.map(DefaultPaths.absolute), owner: try .named(owner),
            showMessage: Console.message)
    }
}

/// The options that name the current unlock secret and the new one.
struct SlotSecretOptions: ParsableArguments {
    @Option(
        name: .customLong("passphrase-file"), help: "Unlock with the passphrase in this file; '-' is standard input.",
        completion: .file())
    var passphraseFile: String?
    @Option(
        name: .customLong("key-file"),
        help: "Unlock with this key file; with --kind keyfile and no --new-key-file: the new one.",
        completion: .file())
    var keyFile: String?
    @Flag(name: .customLong("with-passphrase"), help: withPassphraseHelp)
    var withPassphrase = false
    @Flag(help: "Unlock with the recovery key: asked for, or read from --passphrase-file.")
    var recovery = false
    @Option(help: "The kind of slot: \(SlotKindOption.names).")
    var kind: SlotKindOption?
    @Option(
        name: .customLong("new-passphrase-file"), help: "The file of the new passphrase; '-' is standard input.",
        completion: .file())
    var newPassphraseFile: String?
    @Option(
        name: .customLong("new-key-file"), help: "The new key file; created if it does not exist, never overwritten.",
        completion: .file())
    var newKeyFile: String?
    @Flag(name: .customLong("weak-key-file"), help: "Accept a new key file of printable text, which may be guessed.")
    var weakKeyFile = false

    func validate() throws {
        for file in [keyFile, newKeyFile] { try requireFileName(file, of: "key file") }
        for file in [passphraseFile, newPassphraseFile] where file != "-" {
            try requireFileName(file, of: "passphrase file")
        }
        if withPassphrase, keyFile == nil { throw ValidationError("--with-passphrase needs a --key-file.") }
        if passphraseFile == "-", newPassphraseFile == "-" {
            throw ValidationError("Only one passphrase can come from standard input.")
        }
    }

    var secrets: SlotSecrets {
        SlotSecrets(
            passphraseFile: passphraseFile, variable: DefaultPaths().passphraseFile, keyFile: keyFile,
            withPassphrase: withPassphrase, usesRecoveryKey: recovery, newPassphraseFile: newPassphraseFile,
            newKeyFile: newKeyFile,
            acceptsWeakKeyFile: weakKeyFile)
    }

    var chosenKind: SlotKindOption? { kind ?? secrets.impliedKind }
}

/// The confirmation of a deletion, at a terminal.
struct DeletionConfirmation: ParsableArguments {
    @Flag(help: "Delete items of WhenPasscodeSetThisDeviceOnly with the last passphrase slot without asking.")
    var yes = false

    func given() -> Bool {
        if yes { return true }
        guard isatty(FileHandle.standardInput.fileDescriptor) == 1 else { return false }
        Console.message(
            "items of the class WhenPasscodeSetThisDeviceOnly will be deleted for good. Type 'yes' if they may be:")
        return readLine() == "yes"
    }
}

struct SlotListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the slots, and the cost of a guess of a passphrase; needs no unlock.")

    @OptionGroup var target: SlotTargetOptions
    @Flag(help: "As JSON, for scripts.")
    var json = false

    func run() throws {
        try reporting(hasSecrets: true) { () throws(CLIError) in
            let list = try target.editing().list()
            try Console.result(json ? list.jsonText : list.text)
        }
    }
}

struct SlotAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a way to unlock the keychain.",
        discussion: """
            The command asks twice for a passphrase (the default), or reads it from --new-passphrase-file; all \
            passphrases have the same cost of a guess. A recovery key is printed once, to standard output. A key file is any file of 32 bytes to \
            64 KiB; if it does not exist, it is created (64 random bytes, mode 0600). A slot of --kind passphrase-and-keyfile opens \
            only with both: name the key file with --new-key-file, and later unlock with --key-file and --with-passphrase.
            """)

    @OptionGroup var target: SlotTargetOptions
    @OptionGroup var options: SlotSecretOptions

    func run() throws {
        try reporting(hasSecrets: true) { () throws(CLIError) in
            try target.editing().add(options.chosenKind ?? .passphrase, options.secrets)
        }
    }
}

struct SlotChangeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "change", abstract: "Give a slot another secret; the one that it had opens nothing any more.",
        discussion: """
            As 'slot add'; the kind stays unless --kind names another. --kdf raises the cost of a guess, if there is no other \
            passphrase slot: the passphrase stays then, unless --new-passphrase-file names another. Nothing is ever lowered.

            Older copies of the keychain still open with the old secret.
            """)

    @Argument(help: "The slot's number, of 'slot list'.")
    var id: Int64
    @OptionGroup var target: SlotTargetOptions
    @OptionGroup var options: SlotSecretOptions
    @Option(help: "The cost of a guess: \(KDFCostOption.names).")
    var kdf: KDFCostOption?
    @OptionGroup var consent: DeletionConfirmation

    func run() throws {
        try reporting(hasSecrets: true) { () throws(CLIError) in
            try target.editing().change(id, options.kind, options.secrets, cost: kdf, confirm: consent.given)
        }
    }
}

struct SlotRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a slot: the current file does not open with it any more.",
        discussion: """
            Items written from then on are encrypted with new keys. Older copies of the keychain still open with the slot, and \
            existing items are encrypted with keys that its owner may know: 'keychainfs rekey' encrypts them again. If its owner can \
            write to the file, create a new keychain instead: an old copy that its owner changed would not be recognized. The last slot \
            cannot be removed. With the last passphrase slot the items of the class WhenPasscodeSetThisDeviceOnly are deleted.
            """)

    @Argument(help: "The slot's number, of 'slot list'.")
    var id: Int64
    @OptionGroup var target: SlotTargetOptions
    @OptionGroup var unlocking: UnlockOptions
    @OptionGroup var consent: DeletionConfirmation

    func run() throws {
        try reporting(hasSecrets: true) { () throws(CLIError) in
            try target.editing().remove(id, unlocking.source, confirm: consent.given)
        }
    }
}

extension SlotKindOption: ExpressibleByArgument {}
