package import KeychainConnection
package import LinuxSupport
package import SystemPackage

/// The file of an item, which need not exist, in a mounted keychain.
package struct MountedItem: Sendable {
    /// The item as the user has named it, without effects on a terminal.
    package let shown: String
    package let location: ItemLocation
    private let mount: MountTable.Entry
    /// The directory from which the file is opened: the mount point, or the parent of a file that is mounted alone.
    package let base: String
    /// The names of the directories between `base` and the file.
    package let directories: [String]
    private let fileName: String

    /// - Parameter found: The mount, and the names from its mount point to the file: none if the file is mounted alone.
    init(_ found: (mount: MountTable.Entry, names: [String]), text: String) throws(CLIError) {
        let root = FilePath(found.mount.root).components.map(\.string)
        location = try ItemLocation(root + found.names, of: text)
        shown = Printable.text(text)
        mount = found.mount
        let path = FilePath(mount.path)
        base = found.names.isEmpty ? path.removingLastComponent().string : mount.path
        directories = found.names.dropLast()
        fileName = found.names.last ?? path.lastComponent?.string ?? location.name
    }

    /// The path of the file.
    package var path: String { ([base] + directories + [fileName]).joined(separator: "/") }

    /// Requires that the daemon responds: otherwise this process would block without reacting to signals (contract, L4).
    ///
    /// - Parameter owner: The required owner of the mount, for a secret that is written.
    package func requireResponse(owner: MountOwner = .anyone) throws(CLIError) {
        let client = MountClient(mountPoint: mount.path, owner: owner)
        try client.requireOwner(of: mount)
        try client.requireResponse(acceptsPart: true)
    }

    /// Whether the keychain is known to be locked. Items of some protection classes can be written nevertheless.
    package var isLocked: Bool { (try? MountClient(mountPoint: mount.path).status())?.isUnlocked == false }

    /// Returns the kind of the file.
    ///
    /// - Throws: The errno of openat(2) and fstatat(2), ENOENT if there is no such file.
    package func kind() throws(Errno) -> OpenDirectory.EntryKind { try directory().kind(of: fileName) }

    /// Opens the directory of the item.
    package func directory() throws(Errno) -> OpenDirectory { try directory(depth: directories.count) }

    /// Opens `base`, or the directory of this number of names below it.
    package func directory(depth: Int) throws(Errno) -> OpenDirectory {
        var directory = try OpenDirectory(at: base)
        for name in directories.prefix(depth) { directory = try directory.directory(name) }
        return directory
    }

    /// Deletes the item.
    ///
    /// - Throws: The errno of openat(2) and unlinkat(2).
    package func remove() throws(Errno) { try directory().remove(fileName) }

    /// Opens the item's file. The caller closes it.
    ///
    /// - Parameter owner: The required owner of the mount.
    /// - Throws: The errno of openat(2); ENOTCONN if the file is not in a mounted keychain, EACCES if it is another user's.
    package func open(
        _ mode: FileDescriptor.AccessMode, owner: MountOwner = .anyone
    ) throws(Errno) -> FileDescriptor {
        let file = try directory().open(fileName, mode)
        do throws(Errno) {
            try owner.require(MountIdentity(of: file))
            return file
        } catch {
            try? file.close()
            throw error
        }
    }
}

extension MountOwner {
    /// Requires that an open file is in a mount of this user.
    ///
    /// - Throws: ENOTCONN if it is not in a mounted keychain, EACCES if it is in another user's.
    package func require(_ mount: MountIdentity?) throws(Errno) {
        guard let mount else { throw .socketNotConnected }
        do throws(MountRequirement.Violation) {
            try requirement.check(mount)
        } catch .anotherUser {
            throw .permissionDenied
        } catch {
            throw .socketNotConnected
        }
    }
}
