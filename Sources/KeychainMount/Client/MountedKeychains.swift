import Foundation
import Fuse
import SystemPackage

/// The keychains that are mounted, as the kernel's table tells: no mount is touched.
enum MountedKeychains {
    static let type = "fuse." + MountPlan.subtype

    /// Where a keychain's file is mounted; nil if it is not.
    static func mountPoint(of path: String) -> String? {
        (try? MountTable.current())?.entries.last { $0.type == type && $0.source == path }?.path
    }

    /// Where the keychain is mounted that a process holds; nil if it is not, or `process` is not its daemon.
    ///
    /// With `fsname=` the table names something else. Only mounts of our type are asked, and the one that the daemon names
    /// in its arguments: with `subtype=` it has another type, and nobody else's mount is touched.
    static func mountPoint(of path: String, heldBy process: Int32) -> String? {
        if let mountPoint = mountPoint(of: path) { return mountPoint }
        let named = lastArgument(of: process)
        let candidates = ((try? MountTable.current())?.entries ?? []).filter { entry in
            entry.type == type || entry.type.hasPrefix("fuse.") && entry.path == named
        }
        return candidates.last { (try? MountClient(mountPoint: $0.path).status())?.pid == process }?.path
    }

    /// Of the daemon in the background it is the mount point (proc_pid_cmdline(5)).
    private static func lastArgument(of process: Int32) -> String? {
        let text = try? String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8)
        return text?.split(separator: "\0").last.map(String.init)
    }

    /// The type of the FUSE mount at a directory, nil if there is none: with `subtype=` a keychain can be of any.
    static func type(at path: String) -> String? {
        let type = (try? MountTable.current())?.mount(at: path)?.type
        return type?.hasPrefix("fuse.") == true ? type : nil
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
        var place = FilePath("/")
        while let name = ahead.components.first {
            ahead = FilePath(root: nil, ahead.components.dropFirst())
            place = place.appending(name).lexicallyNormalized()
            if let mountPoint = mountPoint(above: place.string, in: table) { return mountPoint }
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: place.string) else {
                continue
            }
            links += 1
            guard links <= linkLimit else { return nil }
            ahead = place.removingLastComponent().pushing(FilePath(target)).pushing(ahead)
            place = FilePath("/")
        }
        return nil
    }

    /// More the kernel does not follow either (path_resolution(7)).
    private static let linkLimit = 40
}
