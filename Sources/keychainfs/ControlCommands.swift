import ArgumentParser
import KeychainMount

struct UnmountCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unmount", abstract: "Unmount a keychain and wait until its daemon has locked and ended.",
        discussion: """
            Refused while a program uses the mount, after 1 s, or 5 s if only a close or another access is in progress: then nothing \
            has changed. Bind mounts of it, and its copies in other mount namespaces (containers, services), fail with 'Transport \
            endpoint is not connected' afterwards.
            """)

    @OptionGroup var mountPoint: MountPointArgument

    func run() throws {
        try reporting(settings: .optional) { () throws(CLIError) in
            try UnmountOperation(mountPoint: mountPoint.path, showMessage: Console.message).run()
        }
    }
}

struct LockCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lock",
        abstract: "Lock a mounted keychain: access to its items fails with 'Required key not available'.",
        discussion: """
            With --all, a mount that does not respond delays no other; it is locked as soon as its daemon continues.

            Exit codes: 0 locked; with --all also without a mount; 17 not mounted; 30 a daemon does not respond.
            """)

    @Flag(help: "Lock every keychain that you have mounted.")
    var all = false
    @OptionGroup var mountPoint: MountPointArgument

    func validate() throws {
        if all, mountPoint.mountPoint != nil { throw ValidationError("--all and a mount point exclude each other.") }
    }

    func run() throws {
        try reporting(settings: .optional) { () throws(CLIError) in
            guard all else { return try MountClient(mountPoint: mountPoint.path).lock() }
            try LockAllOperation(showMessage: Console.message).run()
        }
    }
}

struct UnlockCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock", abstract: "Unlock a mounted keychain.")

    @OptionGroup var mountPoint: MountPointArgument
    @OptionGroup var unlocking: UnlockOptions
    @OptionGroup var owner: MountOwnerOption
    @Flag(help: "At the first unlock: accept a keychain that is older than the state that this device has seen.")
    var acceptRollback = false

    func run() throws {
        try reporting(hasSecrets: true) { () throws(CLIError) in
            let client = MountClient(mountPoint: mountPoint.path, owner: try owner.mountOwner())
            try client.checkOwner()
            try client.reportCost(of: unlocking.source.kind, showMessage: Console.message)
            let isFirst = (try? client.status())?.isBeforeFirstUnlock == true
            let secret = try unlocking.source.read(
                for: "the keychain at \(mountPoint.path)", showMessage: Console.message)
            try client.unlock(with: secret, acceptingRollback: acceptRollback)
            // The keychain is unlocked, even if the status cannot be read.
            guard isFirst || acceptRollback, let status = try? client.status() else { return }
            for warning in acceptRollback ? status.warnings : status.rollbackWarnings {
                Console.message("warning: \(warning).")
            }
        }
    }
}

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the state of a mounted keychain, which is named by its mount point or with --keychain.",
        discussion: """
            Exit codes: 0 mounted, with --quiet also unlocked; 17 not mounted; 23 locked (only with --quiet); 30 the daemon \
            does not respond.
            """)

    @OptionGroup var keychain: KeychainOption
    @OptionGroup var mountPoint: MountPointArgument
    @Flag(help: "As JSON, for scripts.")
    var json = false
    @Flag(name: .shortAndLong, help: "Print nothing: the exit code is the state.")
    var quiet = false

    func validate() throws {
        if keychain.name != nil, mountPoint.mountPoint != nil {
            throw ValidationError("--keychain and a mount point exclude each other.")
        }
        if json, quiet { throw ValidationError("--json and --quiet exclude each other.") }
    }

    func run() throws {
        if quiet { return try runQuietly() }
        try reporting { () throws(CLIError) in
            let status = try self.status()
            try Console.result(json ? status.jsonText : status.text)
        }
    }
}

extension StatusCommand {
    private func status() throws(CLIError) -> StatusReport {
        let place = keychain.name == nil ? mountPoint.path : try keychain.file.requireMountPoint()
        return try MountClient(mountPoint: place).status()
    }

    private func runQuietly() throws {
        ProcessSetup.run(hasSecrets: false)
        let code: KeychainMount.ExitCode
        do throws(CLIError) {
            try Settings.current.require()
            code = try status().isUnlocked ? .success : .locked
        } catch {
            code = error.exitCode
        }
        throw ArgumentParser.ExitCode(code.rawValue)
    }
}

struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show all attributes of an item or a service, never its secret.",
        discussion: """
            FILE is a path in a mount. SERVICE/NAME, SERVICE and keychain:SERVICE/NAME are in the default mount, as with 'get'.

            Exit codes: 0 shown; 17 the file is not in a mounted keychain; 21 the item is damaged; 23 it is locked; 26 there \
            is no such file; 29 the name is not possible; 30 the daemon does not respond; 31 no permission.
            """)

    @Flag(help: "As JSON, for scripts.")
    var json = false
    @Argument(help: "The item's file in a mount, or its name.", completion: .file())
    var file: String

    func validate() throws { try requireFileName(file, of: "item") }

    func run() throws {
        try reporting(withoutProc: .notMounted) { () throws(CLIError) in
            let description = try ItemDescription(ItemName(file))
            try Console.result(json ? description.jsonText : description.text)
        }
    }
}
