import Foundation
import Fuse
import KeychainConnection
import LinuxSupport
import SystemPackage

/// The mounted keychains in the kernel's table, which is read without accessing a mount.
enum MountedKeychains {
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
    static func contain(_ directory: String) -> Bool { mountPoint(above: directory) != nil }

    /// Returns the mount point of the keychain that contains a path, which must be absolute and without symbolic links.
    private static func mountPoint(above path: String) -> String? {
        (try? MountTable.current()).flatMap { mountPoint(above: path, in: $0) }
    }

    private static func mountPoint(above path: String, in table: MountTable) -> String? {
        guard let mount = table.mount(holding: path), mount.type == type else { return nil }
        return mount.path
    }

    /// Returns the mount point of the keychain to whose mount a path refers, possibly through symbolic links.
    ///
    /// Resolves one component after another, up to the mount, because an access to its contents may block on its
    /// daemon.
    static func mountPoint(onTheWayTo path: FilePath) -> String? {
        guard let table = try? MountTable.current() else { return nil }
        var ahead = FilePath(FileManager.default.currentDirectoryPath).pushing(path)
        var links = 0
        var parent = FilePath("/")
        while let name = ahead.components.first {
            ahead = FilePath(root: nil, ahead.components.dropFirst())
            parent = parent.appending(name).lexicallyNormalized()
            if let mountPoint = mountPoint(above: parent.string, in: table) { return mountPoint }
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: parent.string) else {
                continue
            }
            links += 1
            guard links <= linkLimit else { return nil }
            ahead = parent.removingLastComponent().pushing(FilePath(target)).pushing(ahead)
            parent = FilePath("/")
        }
        return nil
    }

    /// The kernel's limit on symbolic links (path_resolution(7)).
    private static let linkLimit = 40
}
