import FileSystemCore
import Keychain
import KeychainConnection
import LinuxSupport
import SystemPackage

/// A directory in a mounted keychain, such as a service, whose items a command uses.
package struct MountedFolder: Sendable {
    /// The directory as the user has named it, without effects on a terminal.
    package let shown: String
    private let text: String
    private let mount: MountTable.Entry
    private let names: [String]

    /// - Parameter found: The mount, and the names from its mount point to the directory.
    init(_ found: (mount: MountTable.Entry, names: [String]), text: String) throws(CLIError) {
        (shown, self.text, mount, names) = (Printable.text(text), text, found.mount, found.names)
        let root = FilePath(found.mount.root).components.map(\.string)
        guard (root + found.names).first != FixedName.control else {
            throw CLIError(.impossible, "\(shown) contains control files of the keychain, not items.")
        }
    }

    /// Requires that the daemon responds (``MountedItem/requireResponse(owner:)``).
    package func requireResponse() throws(CLIError) {
        try MountClient(mountPoint: mount.path).requireResponse(acceptsPart: true)
    }

    /// Returns the names of the files in it.
    ///
    /// - Throws: `locked` if the listing is incomplete because items are locked; the errors of ``CLIError/init(_:item:consequence:)``.
    package func fileNames() throws(CLIError) -> [String] {
        do throws(Errno) {
            let entries = try DirectoryListing.entries(of: ([mount.path] + names).joined(separator: "/"))
            return entries.filter { !$0.isDirectory }.map(\.name)
        } catch {
            throw CLIError(error, item: shown)
        }
    }

    /// Returns the item of this name.
    package func item(_ name: String) throws(CLIError) -> MountedItem {
        try MountedItem((mount, names + [name]), text: text + "/" + name)
    }
}
