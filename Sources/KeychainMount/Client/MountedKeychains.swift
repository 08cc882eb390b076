import Fuse

/// The keychains that are mounted, as the kernel's table tells: no mount is touched.
enum MountedKeychains {
    static let type = "fuse." + MountPlan.subtype

    /// Where a keychain's file is mounted; nil if it is not.
    static func mountPoint(of path: String) -> String? {
        (try? MountTable.current())?.entries.last { $0.type == type && $0.source == path }?.path
    }

    /// Whether a keychain is mounted at a directory.
    static func isMounted(at path: String) -> Bool {
        (try? MountTable.current())?.mount(at: path)?.type == type
    }
}
