import FileSystemCore
import Fuse
import Keychain
import KeychainConnection
package import LinuxSupport
package import SystemPackage

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
            throw CLIError(.impossible, "\(shown) is one of the control files of the keychain, not of its items.")
        }
    }

    /// The directory's path.
    package var path: String { path(of: []) }

    /// Returns the path of a name below it.
    package func path(of below: [String]) -> String { ([mount.path] + names + below).joined(separator: "/") }

    /// Requires that the daemon responds (``MountedItem/requireResponse(owner:)``).
    package func requireResponse() throws(CLIError) {
        try MountClient(mountPoint: mount.path).requireResponse(acceptsPart: true)
    }

    /// The status of the keychain; nil if it cannot be read: in a bind mount of a part, or by another user.
    package var status: StatusReport? { try? MountClient(mountPoint: mount.path, owner: .anyone).status() }

    package var mountPoint: String { mount.path }

    /// The paths from the mount point to the directory, both included.
    package var pathsOnTheWay: [String] {
        (0...names.count).map { ([mount.path] + names.prefix($0)).joined(separator: "/") }
    }

    /// Returns the names of the files in it.
    ///
    /// - Throws: `locked` if the listing is incomplete because items are locked; the errors of ``CLIError/init(_:item:consequence:)``.
    package func fileNames() throws(CLIError) -> [String] {
        do throws(Errno) {
            return try DirectoryListing.entries(of: path).filter { !$0.isDirectory }.map(\.name)
        } catch {
            throw CLIError(error, item: shown)
        }
    }

    /// Returns the entries of the directory, or of one below it, without control files, and the error that ended the listing early.
    ///
    /// - Throws: The errno of opendir(3).
    package func entries(
        below directories: [String] = []
    ) throws(Errno) -> (entries: [DirectoryListing.Entry], error: Errno?) {
        let (entries, error) = try DirectoryListing.available(in: path(of: directories))
        guard mount.root == "/", names.isEmpty, directories.isEmpty else { return (entries, error) }
        return (entries.filter { $0.name != FixedName.control }, error)
    }

    /// The mounts whose mount points are in the keychain: what is visible there is not part of it.
    package func innerMounts() throws(Errno) -> [MountTable.Entry] { try MountTable.current().mounts(in: mount) }

    /// Returns the label of an item below it; nil if it has none, or its label is not text.
    ///
    /// - Throws: The errno of getxattr(2).
    package func label(of names: [String]) throws(Errno) -> String? {
        let attribute = Array("user.\(AttributeKey.label.definition.name)".utf8)
        do throws(Errno) {
            return String(validating: try ExtendedAttributes.get(attribute, of: path(of: names)), as: UTF8.self)
        } catch .noAttribute {
            return nil
        }
    }

    /// Returns the item of this name.
    package func item(_ name: String) throws(CLIError) -> MountedItem {
        try MountedItem((mount, names + [name]), text: text + "/" + name)
    }
}
