import Foundation
import Fuse
import KeychainConnection
import LinuxSupport
import SystemPackage

/// The mounted keychains in the kernel's table, which is read without accessing a mount.
package enum MountedKeychains {
    static let type = MountOwner.fileSystemType

    /// The mount points of the calling user's keychains, including those whose daemon has died.
    static var ofCaller: [String] {
        ((try? MountTable.current())?.entries ?? []).filter(isOfCaller).map(\.path)
    }

    /// The calling user's keychains, each as the list of its views.
    static func ofCaller(in table: MountTable) -> [[MountTable.Entry]] {
        Array(Dictionary(grouping: table.entries.filter(isOfCaller), by: \.device).values)
    }

    private static func isOfCaller(_ entry: MountTable.Entry) -> Bool {
        entry.type == type && MountOwner.caller.requirement.accepts(entry)
    }

    /// Returns the mount point of a keychain's file; nil if it is not mounted. A mount whose daemon has ended does not count, such as
    /// a bind mount of one that was unmounted.
    static func mountPoint(of path: String) -> String? {
        mounts(of: path).last { entry in
            entry.source.utf8.elementsEqual(path.utf8) && !MountClient(mountPoint: entry.path).hasDaemonEnded
        }?.path
    }

    /// Returns the mount point of the keychain that a process has open; nil if it is not mounted, or `process` is not
    /// its daemon.
    ///
    /// With `fsname=`, the table contains another source.
    static func mountPoint(of path: String, heldBy process: Int32) -> String? {
        if let mountPoint = mountPoint(of: path) { return mountPoint }
        return mounts(of: path).last { (try? MountClient(mountPoint: $0.path).status())?.pid == process }?.path
    }

    /// Returns the mounts that may belong to the keychain. A user may choose any source for a mount, so only mounts of
    /// this user and of the owner of the file count.
    private static func mounts(of path: String) -> [MountTable.Entry] {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        let owner = (attributes?[.ownerAccountID] as? NSNumber)?.uint32Value
        return ((try? MountTable.current())?.entries ?? []).filter { entry in
            entry.type == type && (MountOwner.caller.requirement.accepts(entry) || entry.fuseUserID == owner)
        }
    }

    /// Whether a keychain is mounted at a directory, even if its daemon has died.
    static func isMounted(at path: String) -> Bool {
        (try? MountTable.current())?.mount(at: path)?.type == type
    }

    /// Whether a directory, without symbolic links, is in a mount of a keychain.
    static func contain(_ directory: String) -> Bool {
        (try? MountTable.current())?.mount(holding: directory)?.type == type
    }

    /// Finds the mounted keychain that contains the file to which a path refers, possibly through symbolic links. The file
    /// need not exist.
    ///
    /// Resolves one component after another, up to the mount, because an access to its contents may block on its
    /// daemon. A keychain contains no symbolic links.
    ///
    /// - Returns: The mount, and the names from its mount point to the file; nil if no keychain contains it.
    static func resolve(_ path: FilePath) -> (mount: MountTable.Entry, names: [String])? {
        guard let table = try? MountTable.current() else { return nil }
        var ahead = FilePath(FileManager.default.currentDirectoryPath).pushing(path)
        var links = 0
        var parent = FilePath("/")
        var found: MountTable.Entry?
        while let name = ahead.components.first {
            ahead = FilePath(root: nil, ahead.components.dropFirst())
            parent = parent.appending(name).lexicallyNormalized()
            found = table.mount(holding: parent.string).flatMap { $0.type == type ? $0 : nil }
            guard found == nil, let target = try? FileManager.default.destinationOfSymbolicLink(atPath: parent.string)
            else { continue }
            links += 1
            guard links <= linkLimit else { return nil }
            ahead = parent.removingLastComponent().pushing(FilePath(target)).pushing(ahead)
            parent = FilePath("/")
        }
        return found.map { mount in
            (mount, parent.components.dropFirst(FilePath(mount.path).components.count).map(\.string))
        }
    }

    /// Returns the item to which the path of a file refers; nil for a file outside of mounted keychains.
    ///
    /// - Throws: `impossible` for a file in a keychain that is not an item.
    package static func item(at path: String) throws(CLIError) -> MountedItem? {
        guard let found = resolve(FilePath(path)) else { return nil }
        return try MountedItem(found, text: path)
    }

    /// The kernel's limit on symbolic links (path_resolution(7)).
    private static let linkLimit = 40
}
