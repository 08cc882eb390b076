import Fuse

/// The keychains that are mounted, as the kernel's table tells: no mount is touched.
enum MountedKeychains {
    static let type = "fuse." + MountPlan.subtype

    /// Where a keychain's file is mounted; nil if it is not.
    static func mountPoint(of path: String) -> String? {
        (try? MountTable.current())?.entries.last { $0.type == type && $0.source == path }?.path
    }

    /// The type of the FUSE mount at a directory, nil if there is none: with `subtype=` a keychain can be of any.
    static func type(at path: String) -> String? {
        let type = (try? MountTable.current())?.mount(at: path)?.type
        return type?.hasPrefix("fuse.") == true ? type : nil
    }

    /// Whether a directory, without symbolic links, lies in a mount of ours.
    static func contain(_ directory: String) -> Bool {
        let above = ((try? MountTable.current())?.entries ?? []).filter { entry in
            entry.path == "/" || entry.path == directory || directory.hasPrefix(entry.path + "/")
        }
        let longest = above.map(\.path.utf8.count).max()
        return above.last { $0.path.utf8.count == longest }?.type == type
    }
}
