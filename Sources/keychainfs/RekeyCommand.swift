import ArgumentParser
import Foundation
import KeychainMount

struct RekeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rekey", abstract: "Give a mounted keychain new keys, and encrypt every item with them.",
        discussion: """
            An older copy of the keychain and the secret of a slot that was removed or changed later give access to old keys. \
            After a rekey the old keys open no item and no name of a directory of the keychain. They still open the older copy.

            Asks for the passphrase, or uses another unlock secret. The daemon executes the rekey while the keychain is in use; \
            ^C ends only the display. A lock stops it, and it continues after the next unlock, also after a crash. A rekey in progress \
            is not restarted, but its progress is shown. A rekey that another device has begun is completed by this command.

            If rows differ from the committed ones, the command asks first: the holder of old keys may have forged them. A rekey \
            that was interrupted stops in this case, and is continued by this command.

            Exit codes: 0 done; 10 wrong passphrase; 14 another process has just started one; 17 not mounted; 1 or 19 this device \
            could not record the new keys; 19 the disk is full (it continues when space is free); 21 damaged items could not be encrypted again, \
            or rows differ and the user did not accept them; 22 read-only; 23 locked (it continues after the next unlock); 130 interrupted (it continues).
            """)

    @OptionGroup var mountPoint: MountPointArgument
    @OptionGroup var unlocking: UnlockOptions
    @OptionGroup var owner: MountOwnerOption
    @Flag(help: "The result as JSON, for scripts.")
    var json = false
    @Flag(help: "Start, or continue, without asking if rows differ from the committed ones.")
    var yes = false

    func run() throws {
        try reporting(hasSecrets: true) { () throws(CLIError) in
            let status = try RekeyProgressMonitor(mountPoint: mountPoint.path, owner: try owner.mountOwner()).run(
                unlocking: unlocking.source, confirm: confirm, isTerminal: isatty(STDERR_FILENO) == 1, draw: Self.draw,
                showMessage: Console.message)
            try report(status.rekey)
            if let fault = status.device.stateFault { throw CLIError(fault, after: "The keychain has new keys") }
        }
    }

    private func report(_ result: StatusReport.RekeyStatus) throws(CLIError) {
        let rest = result.left == 0 ? "; the old keys are removed" : ""
        try Console.result(
            json
                ? result.jsonText : "\(Counted.text(result.done, "item is", "items are")) sealed under new keys\(rest)."
        )
        guard result.left == 0 else {
            throw CLIError(
                .damaged,
                """
                \(Counted.text(result.left, "item is", "items are")) damaged and could not be encrypted again: the old keys of their classes were kept. \
                'keychainfs check' lists them; restore or remove those items, and run 'keychainfs rekey' again.
                """)
        }
    }

    private func confirm() -> Bool {
        if yes { return true }
        Console.message(
            """
            rows or indexes of the keychain differ from the committed ones: 'keychainfs check' lists them. The holder of \
            old keys, for example of a removed slot, may have forged rows. They would get new keys with the others.
            """)
        guard isatty(STDIN_FILENO) == 1 else {
            Console.message("there is no terminal for the confirmation; --yes starts without it.")
            return false
        }
        Console.message("Encrypt them again? [y/N]")
        return ["y", "yes"].contains(readLine()?.lowercased())
    }

    private static func draw(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}
