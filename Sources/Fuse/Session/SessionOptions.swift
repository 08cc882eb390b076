/// How a session mounts and works.
public struct SessionOptions: Sendable {
    /// What mount(8) shows as the source.
    public var source: String
    /// The part after `fuse.` of the file system type: at most 63 bytes of letters, digits, `-` and `_`.
    public var subtype: String
    public var isReadOnly = false
    /// Lets other users in (`allow_other`); fusermount3 allows it only with `user_allow_other` in /etc/fuse.conf.
    public var allowsOtherUsers = false
    /// Lets root in, and nobody else but the mounting user (`allow_root`): the kernel knows only `allow_other`, so libfuse
    /// answers others EACCES. Needs what `allowsOtherUsers` needs, and a root directory that others may not search: what
    /// the kernel has cached it gives to whom it may.
    public var allowsRoot = false
    /// No program on the mount can be run (`noexec`).
    public var forbidsPrograms = false
    /// Further options of mount.fuse3(8), each as `name` or `name=value`.
    public var extraOptions: [String] = []
    /// The threads that serve requests which may wait for a disk or for another caller, 1 to 128. Further such requests wait in a queue,
    /// while another thread continues to receive. A handler that yields the receiver role (``Request/willBlock()``) does not count.
    ///
    /// Idle threads end after some seconds, except four. Four locked receive buffers of about 1 MiB, of which only the used part is
    /// resident, are enough: a short message is moved to a separate page, and a handler releases a long message before it waits
    /// (``Request/releaseMessage()``).
    public var workers = 4
    /// For how many microseconds after a request the receiving thread asks again instead of sleeping.
    ///
    /// Waking a sleeping thread on another CPU costs more than a whole request; 0 saves the CPU time.
    public var pollMicroseconds = 50

    /// The thread that receives a READ, WRITE or CREATE serves it, too: for a file system that says itself which of them take
    /// longer (``Request/willBlock()``), or wait for what a further message brings. Letting another thread receive costs a
    /// wake-up, more than all the rest of a short one.
    public var receiverServesIO = false

    /// Nothing that is newer than this minor version of the kernel's protocol is used, whatever the kernel has: so what older
    /// kernels need can be tried on a newer one.
    public var newestProtocolMinor = UInt32.max

    public init(source: String, subtype: String) {
        self.source = source
        self.subtype = subtype
    }

    /// The largest READ in bytes: a file system has to hold that much plaintext at once.
    public static let maximumRead = 131_072
    /// The largest WRITE in bytes.
    public static let maximumWrite = 1 << 20
}
