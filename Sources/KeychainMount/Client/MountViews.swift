import LinuxSupport

/// A mount of a keychain and the other mounts of the same file system that the caller sees. Read before the unmount: afterwards the
/// kernel assigns the device number to the next mount, which may be another keychain's.
struct MountViews {
    private let mount: MountTable.Entry
    private let others: [MountTable.Entry]

    /// Returns nil if nothing is mounted at `mountPoint`, or the kernel's table cannot be read.
    init?(of mountPoint: String) {
        guard let table = try? MountTable.current(), let mount = table.mount(at: mountPoint) else { return nil }
        self.init(of: mount, in: table)
    }

    init(of mount: MountTable.Entry, in table: MountTable) {
        self.mount = mount
        others = table.otherViews(of: mount)
    }

    /// Whether it is the mount of the daemon, which ends with it, and not another view of that mount.
    ///
    /// - Parameters:
    ///   - identifier: The ID that the daemon reports; nil if it cannot read it.
    ///   - mountPoint: The mount point that the daemon reports.
    func isMount(of identifier: Int?, at mountPoint: String) -> Bool {
        identifier.map { $0 == mount.identifier } ?? mount.isMounted(at: mountPoint)
    }

    /// The paths of the other mounts that still exist.
    var remaining: [String] {
        guard !others.isEmpty, let table = try? MountTable.current() else { return [] }
        return table.entries.filter(others.contains).map(\.path)
    }
}
