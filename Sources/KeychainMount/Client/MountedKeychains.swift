import Foundation
import Fuse
import KeychainConnection
import LinuxSupport
import SystemPackage

/// The keychains that are mounted, as the kernel's table tells: no mount is touched.
enum MountedKeychains {
    static let type = MountOwner.fileSystemType

    /// The mount points of the calling user's keychains, also of those whose daemon has ended.
    static var ofCaller: [String] {
        ((try? MountTable.current())?.entries ?? [])
            .filter { $0.type == type && MountOwner.caller.requirement.accepts($0) }.map(\.path)
    }

    /// Where a keychain's file is mounted; nil if it is not.
    static func mountPoint(of path: String) -> String? {
        mounts(of: path).last { $0.source == path }?.path
    }

    /// Where the keychain is mounted that a process holds; nil if it is not, or `process` is not its daemon.
    ///
    /// With `fsname=` the table names another source.
    static func mountPoint(of path: String, heldBy process: Int32) -> String? {
        if let mountPoint = mountPoint(of: path) { return mountPoint }
        return mounts(of: path).last { (try? MountClient(mountPoint: $0.path).status())?.pid == process }?.path
    }

    /// Those that may be a mount of the keychain: a user chooses the source of a mount freely, so only mounts of this user and of
    /// the owner of the file count.
    private static func mounts(of path: String) -> [MountTable.Entry] {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        let owner = (attributes?[.ownerAccountID] as? NSNumber)?.uint32Value
        return ((try? MountTable.current())?.entries ?? []).filter { entry in
            entry.type == type && (MountOwner.caller.requirement.accepts(entry) || entry.fuseUserID == owner)
        }
    }

    /// Whether a keychain is mounted at a directory, be it without a daemon that lives.
    static func isMounted(at path: String) -> Bool {
        (try? MountTable.current())?.mount(at: path)?.type == type
    }

    /// Whether a directory, without symbolic links, lies in a mount of ours.
    static func contain(_ directory: String) -> Bool { mountPoint(above: directory) != nil }

    /// Of the keychain in whose mount a path lies, as it is spelled: from the root, without symbolic links.
    private static func mountPoint(above path: String) -> String? {
        (try? MountTable.current()).flatMap { mountPoint(above: path, in: $0) }
    }

    private static func mountPoint(above path: String, in table: MountTable) -> String? {
        guard let mount = table.mount(holding: path), mount.type == type else { return nil }
        return mount.path
    }

    /// Of the keychain into whose mount a path leads, be it through symbolic links.
    ///
    /// Goes from name to name, and no further than to the mount: whoever looks at what is in it may wait for its daemon.
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

    /// More the kernel does not follow either (path_resolution(7)).
    private static let linkLimit = 40
}
