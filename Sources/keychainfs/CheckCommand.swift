import ArgumentParser
import Glibc
import KeychainMount

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Verify every row of a keychain; --repair saves its intact items, --compact shrinks its file.",
        discussion: """
            A mounted keychain is checked by its daemon. Also lists files that editors left behind.

            With --repair a keychain that is damaged, and not mounted, is replaced by a keychain with every row that \
            verifies. The complete damaged file is kept as KEYCHAIN.damaged-DATE. An item that does not verify is omitted; an \
            item without its directory is moved to access-groups/lost+found. Items that only another device can open \
            are not changed. Asks before it changes anything, except with --yes.

            With --compact the file of an intact keychain that is not mounted is replaced by a copy without the space that \
            deleted items have left. A crash leaves the complete old or new file. An unmount does the same if more than half \
            of a file of more than 4 MiB is free.

            Exit codes: 0 intact, repaired or compacted; 10 wrong passphrase; 11 no keychain; 12 too damaged; 14 mounted or in use; 19 disk \
            full; 21 damaged; 23 intact as far as it is unlocked; 24 older than the state that this device has seen; \
            1 or 19 after 'repaired': done, but this device could not record it.
            """)

    @OptionGroup var keychain: KeychainOption
    @OptionGroup var unlocking: UnlockOptions
    @Flag(help: "As JSON, for scripts.")
    var json = false
    @Flag(help: "Save the intact items of a damaged keychain; the damaged file is kept under another name.")
    var repair = false
    @Flag(help: "With --repair: do not ask.")
    var yes = false
    @Flag(help: "With --repair: accept a keychain that may be older than the state that this device has seen.")
    var acceptRollback = false

    @Flag(help: "Release the free space of an intact keychain's file.")
    var compact = false

    func validate() throws {
        if repair, compact { throw ValidationError("Use either --repair or --compact.") }
        if !repair, yes || acceptRollback { throw ValidationError("--yes and --accept-rollback belong to --repair.") }
    }

    func run() throws {
        try reporting(hasSecrets: true) { () throws(CLIError) in
            let file = keychain.file
            if repair { return try repair(file) }
            let result = try check(file)
            try Console.result(json ? result.jsonText : result.text)
            if !result.isConsistent { throw CLIError(.damaged, "\(file.path) is damaged.") }
            guard result.unavailable == 0 else {
                throw CLIError(
                    .locked,
                    """
                    \(file.path) is locked: \(Counted.text(result.unavailable, "row was", "rows were")) not examined. 'keychainfs unlock' it and \
                    check again.
                    """)
            }
        }
    }

    private func check(_ file: KeychainPath) throws(CLIError) -> CheckResult {
        guard compact else { return try file.check(unlocking: unlocking.source, showMessage: Console.message) }
        return try file.compact(unlocking: unlocking.source, showMessage: Console.message)
    }

    private func repair(_ file: KeychainPath) throws(CLIError) {
        let result = try Repair(of: file, acceptingRollback: acceptRollback).run(
            unlocking: unlocking.source, showMessage: Console.message, confirm: confirm)
        try Console.result(json ? result.jsonText : result.text)
        guard result.repaired else { return Console.message("\(file.path) is intact. Nothing was changed.") }
        Console.message("repaired \(file.path). Check its items.")
        if let aside = result.aside { Console.message("the damaged keychain is kept as \(aside).") }
        if let fault = result.stateFault { throw CLIError(fault, after: "The keychain is repaired, with new keys") }
    }

    private func confirm(_ result: RepairResult) throws(CLIError) {
        guard !yes else { return }
        guard isatty(STDIN_FILENO) == 1 else {
            throw CLIError(
                .damaged,
                result.text
                    + "\nNothing was changed: there is no terminal for the confirmation. --yes repairs without it.")
        }
        Console.message(result.text)
        Console.message("Repair it? The damaged file is kept under another name. [y/N]")
        guard ["y", "yes"].contains(readLine()?.lowercased()) else {
            throw CLIError(.damaged, "Nothing was changed.")
        }
    }
}
