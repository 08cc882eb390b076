import Foundation
import Fuse

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
    static func mountPoint(above path: String) -> String? {
        let above = ((try? MountTable.current())?.entries ?? []).filter { entry in
            entry.path == "/" || entry.path == path || path.hasPrefix(entry.path + "/")
        }
        let longest = above.map(\.path.utf8.count).max()
        guard let mount = above.last(where: { $0.path.utf8.count == longest }), mount.type == type else { return nil }
        return mount.path
    }
}
