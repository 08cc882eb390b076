import ArgumentParser
import KeychainMount

/// The option that names the user whose mount may receive a secret.
struct MountOwnerOption: ParsableArguments {
    @Option(help: mountOwnerHelp)
    var owner: String?

    func mountOwner() throws(CLIError) -> MountOwner { try .named(owner) }
}

/// The help of `--owner`.
let mountOwnerHelp = ArgumentHelp(
    """
    For root: the user (name or number) whose mount it is; otherwise root gives a secret only to its own mounts. \
    (default: KEYCHAINFS_MOUNT_OWNER)
    """)
