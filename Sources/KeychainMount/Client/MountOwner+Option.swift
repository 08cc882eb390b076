package import KeychainConnection

package typealias MountOwner = KeychainConnection.MountOwner

extension MountOwner {
    /// Returns the owner of an option, or else of the environment; by default the user who runs the command.
    package static func named(_ name: String?) throws(CLIError) -> MountOwner {
        do throws(OwnerError) {
            guard let name else { return try .ofEnvironment() }
            return try MountOwner(name: name)
        } catch .notRoot {
            throw CLIError(.usage, "--owner is for root: other users give their secrets to their own mounts only.")
        } catch {
            throw CLIError(.usage, "There is no user of the name in --owner or \(variable).")
        }
    }
}
