import ArgumentParser
import KeychainMount

struct Mount: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Mount a keychain as a directory.",
        discussion: "Goes to the background when the mount is ready. Only the mounting user can reach it.")

    @OptionGroup var keychain: KeychainOption
    @OptionGroup var mountPoint: MountPointArgument
    @OptionGroup var passphrase: PassphraseOption
    @Flag(name: .shortAndLong, help: "Stay in the foreground; log to standard error.")
    var foreground = false
    @Flag(help: "Make the keychain if there is none.")
    var create = false
    @Flag(help: "Take a keychain that is older than what this device has seen of it as it is.")
    var acceptRollback = false
    @Option(name: .customShort("o"), help: "Mount options, separated by commas: 'ro' mounts read-only.")
    var options: [String] = []
    @Flag(name: .customLong("in-background"), help: .private)
    var inBackground = false

    func run() throws {
        try reporting(hasSecrets: true) { () throws(Failure) in
            let plan = MountPlan(
                keychain: keychain.path, mountPoint: mountPoint.path, options: try MountOptionList(options),
                isForeground: foreground, makesKeychain: create, acceptsRollback: acceptRollback)
            if inBackground {
                plan.runInBackground()
            } else {
                try plan.run(passphrase: passphrase.source, say: Report.message)
            }
        }
    }
}

/// Not for people: the process that cleans the mount up when its daemon dies.
struct Guard: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "guard", shouldDisplay: false)

    @Argument var mountPoint: String

    func run() throws {
        MountPlan.guardMount(mountPoint: mountPoint)
    }
}
