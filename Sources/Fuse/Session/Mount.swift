import CFuse3
import Glibc
import LinuxSupport
import Synchronization
import SystemPackage

/// A mount of this process, created by root with mount(2) and by other users through fusermount3.
final class Mount: Sendable {
    private let path: String
    /// Its line in the kernel's table when it was created; nil if the table cannot be read.
    let entry: MountTable.Entry?
    /// The mount's ID in /proc/self/mountinfo, which distinguishes it from another mount on top of it.
    var identifier: Int? { entry?.identifier }
    /// The watchdog that unmounts for this process, which has renounced the privileges that fusermount3 needs.
    private let unmounter = Mutex<WatchdogConnection?>(nil)

    private init(_ path: String) {
        self.path = path
        entry = (try? MountTable.current())?.mount(at: path)
    }

    /// Mounts a file system. Returns the device's descriptor, which the caller owns, and the mount.
    static func make(at path: String, _ options: SessionOptions) throws(FuseError) -> (Int32, Mount) {
        let device = try openDevice()
        if geteuid() == 0 {
            let error = mountDirectly(device, path, options)
            if error == nil { return (device, Mount(path)) }
            // In a container, root may lack a capability that fusermount3 lacks, too; its message is more precise.
            if let error, error != .notPermitted || ChildProcess.find("fusermount3") == nil {
                close(device)
                throw .mountRefused(message: "\(error)")
            }
        }
        close(device)
        let descriptor = try MountHelper().mount(at: path, options: helperOptions(options))
        return (descriptor, Mount(path))
    }

    /// Unmounts.
    ///
    /// - Throws: ``FuseError/busy`` while files are open and `lazily` is false.
    func unmount(lazily: Bool) throws(FuseError) {
        // Reading the kernel's table does not access the mount.
        let current = (try? MountTable.current())?.mount(at: path)
        guard let current, entry == nil || isThisMount(current) else { throw .notMounted }
        if let unmounter = unmounter.withLock({ $0 }), try unmounter.unmount(lazily: lazily) { return }
        try Self.unmount(path, lazily: lazily)
    }

    /// Delegates the unmount to the watchdog, as long as it responds.
    func delegateUnmount(to connection: WatchdogConnection) { unmounter.withLock { $0 = connection } }

    /// Whether the mount still exists but its connection has been aborted.
    var isDead: Bool {
        guard let current = (try? MountTable.current())?.mount(at: path), isThisMount(current) else { return false }
        return StaleMount.exists(at: path, type: current.type)
    }

    /// Whether a line of the table is this mount. The kernel gives the ID of a mount that was removed to the next one.
    private func isThisMount(_ current: MountTable.Entry) -> Bool {
        current.identifier == entry?.identifier && current.device == entry?.device
    }

    /// Aborts the connection: see ``ConnectionAbort``. Returns whether that was possible.
    func abort(_ channel: Channel) -> Bool {
        guard let entry else { return false }
        // The number is this connection's while the connection exists, even if only another mount namespace or a bind mount keeps it.
        if ConnectionAbort.run(number: entry.deviceMinor, ifStill: { !channel.isDisconnected }) { return true }
        let current = (try? MountTable.current())?.mount(identifier: entry.identifier)
        guard let current, isThisMount(current), !channel.isDisconnected else { return false }
        return ConnectionAbort.run(current)
    }

    static func unmount(_ path: String, lazily: Bool) throws(FuseError) {
        guard geteuid() == 0 else { return try MountHelper().unmount(path, lazily: lazily) }
        let flags = cfuse3_umount_nofollow | (lazily ? cfuse3_umount_detach : 0)
        guard unsafe umount2(path, flags) != 0 else { return }
        switch errno {
        case EBUSY: throw .busy
        case EINVAL, ENOENT: throw .notMounted
        case let error: throw .unmountRefused(message: "\(Errno(rawValue: error))")
        }
    }

    /// Opens /dev/fuse as this user; fusermount3 opens its own descriptor.
    private static func openDevice() throws(FuseError) -> Int32 {
        let device = unsafe Glibc.open("/dev/fuse", O_RDWR | O_CLOEXEC)
        if device >= 0 { return device }
        switch errno {
        case ENOENT, ENODEV, ENXIO: throw .deviceMissing
        case EACCES, EPERM: throw .deviceDenied
        case let error: throw .system(Errno(rawValue: error), call: "open")
        }
    }

    private static func mountDirectly(_ device: Int32, _ path: String, _ options: SessionOptions) -> Errno? {
        let data =
            [
                "fd=\(device)", "rootmode=40000", "user_id=\(getuid())", "group_id=\(getgid())",
                "max_read=\(SessionOptions.maximumRead)", "default_permissions",
            ] + access(options) + options.extraOptions
        let flags = UInt(
            MS_NOSUID | MS_NODEV | (options.isReadOnly ? MS_RDONLY : 0) | (options.forbidsPrograms ? MS_NOEXEC : 0))
        let result = unsafe data.joined(separator: ",").withCString { data in
            unsafe Glibc.mount(options.source, path, "fuse.\(options.subtype)", flags, data)
        }
        return result == 0 ? nil : Errno(rawValue: errno)
    }

    private static func helperOptions(_ options: SessionOptions) -> [String] {
        // A comma in a value would begin another option.
        let source = options.source.replacing("\\", with: "\\\\").replacing(",", with: "\\,")
        return [
            options.isReadOnly ? "ro" : "rw", "nosuid", "nodev", "fsname=\(source)", "subtype=\(options.subtype)",
            "max_read=\(SessionOptions.maximumRead)", "default_permissions",
        ] + (options.forbidsPrograms ? ["noexec"] : []) + access(options) + options.extraOptions
    }

    /// The kernel only knows `allow_other`. For `allow_root`, libfuse rejects other users.
    private static func access(_ options: SessionOptions) -> [String] {
        options.allowsOtherUsers || options.allowsRoot ? ["allow_other"] : []
    }
}
