import ArgumentParser
import DeviceState
import KeychainMount

struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy a keychain, still encrypted, to a new file; or verify such a copy.",
        discussion: """
            A mounted keychain is copied by its daemon while it is in use, locked or not, but not before its first \
            unlock; that needs as much free space next to the keychain as the keychain itself. For a keychain that is not mounted \
            the command asks for the passphrase.

            BACKUP must not exist: nothing is ever overwritten. It is a keychain like any other, for the same \
            passphrase; keep it where you keep backups. Items of the class WhenPasscodeSetThisDeviceOnly are not in \
            a backup; other ThisDeviceOnly items are, and can be opened only on this device.

            With --verify every row of BACKUP is verified; nothing is changed.

            Exit codes: 0 done, or intact; 10 wrong passphrase; 11 no keychain or no BACKUP; 12 no keychain file, or another \
            copy was written over the mounted one; 19 disk full; 20 BACKUP exists; 21 damaged (the backup was created \
            nevertheless); 23 not unlocked since the mount.
            """)

    @OptionGroup var keychain: KeychainOption
    @OptionGroup var unlocking: UnlockOptions
    @Flag(help: "Verify every row of BACKUP.")
    var verify = false
    @Flag(help: "As JSON, for scripts.")
    var json = false
    @Argument(help: "The copy.", completion: .file())
    var backup: String

    func validate() throws {
        try requireFileName(backup, of: "backup")
        if verify, keychain.name != nil { throw ValidationError("--verify takes a BACKUP and no --keychain.") }
    }

    func run() throws {
        try reporting(hasSecrets: true) { () throws(CLIError) in
            if verify {
                try verifyBackup()
            } else {
                let made = try KeychainMount.Backup(
                    of: keychain.file, at: DefaultPaths.absoluteOfNew(backup)
                ).make(unlocking: unlocking.source, showMessage: Console.message)
                try Console.result(json ? made.jsonText : made.text)
                guard made.isConsistent else {
                    throw CLIError(
                        .damaged,
                        """
                        The keychain is damaged: rows are missing, older or foreign, or indexes miss rows. So is this backup. \
                        Keep the backups that you have, and run 'keychainfs check'.
                        """)
                }
            }
        }
    }

    private func verifyBackup() throws(CLIError) {
        let file = KeychainPath(path: DefaultPaths.absolute(backup))
        let result = try file.verifyBackup(unlocking: unlocking.source, showMessage: Console.message)
        try Console.result(json ? result.jsonText : result.text)
        if !result.isConsistent { throw CLIError(.damaged, "\(file.path) is damaged.") }
    }
}

struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Replace a keychain by a backup.",
        discussion: """
            Asks for the passphrase of BACKUP, and verifies its structure first ('backup --verify' verifies every row). \
            A mounted keychain is never replaced: unmount it. An existing one is replaced only with --replace, in one \
            step, and kept as KEYCHAIN.replaced-DATE. BACKUP is not changed.

            From then on this device accepts the restored keychain as the newest state. All other copies of it count as \
            older, also one at another path. To read a backup without restoring it, mount it with '-o ro --accept-rollback'.

            A BACKUP whose keys are not those of the keychain that this device has used is refused: the holder of a slot that \
            was removed since could make one. --accept-rollback restores it nevertheless.

            Exit codes: 0 done; 10 wrong passphrase; 11 no BACKUP; 12 no keychain file; 14 mounted; 19 disk full; \
            20 a keychain exists; 21 damaged; 24 keys that are not those of this device's keychain; 1 or 19 after \
            'restored': done, but this device could not record it.
            """)

    @OptionGroup var keychain: KeychainOption
    @OptionGroup var unlocking: UnlockOptions
    @Flag(help: "Replace an existing keychain, which is kept under another name.")
    var replace = false
    @Flag(help: "Restore a backup with other keys than those of the keychain that this device has used.")
    var acceptRollback = false
    @Argument(help: "A file that 'keychainfs backup' has created.", completion: .file())
    var backup: String

    func validate() throws {
        try requireFileName(backup, of: "backup")
    }

    func run() throws {
        try reporting(hasSecrets: true) { () throws(CLIError) in
            let target = keychain.file
            let result = try KeychainMount.Restore(
                DefaultPaths.absolute(backup), to: target, replaces: replace, acceptingRollback: acceptRollback
            ).run(unlocking: unlocking.source, showMessage: Console.message)
            if let kept = result.replaced { Console.message("the replaced keychain is kept as \(kept).") }
            Console.message("restored \(target.path). Mount it with '\(target.mountCommand)'.")
            guard let fault = result.stateFault else { return }
            throw CLIError(fault, after: "The backup is restored (the next mount may need --accept-rollback)")
        }
    }
}
