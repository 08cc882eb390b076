/// The options of a session and its mount.
public struct SessionOptions: Sendable {
    /// The source that mount(8) shows.
    public var source: String
    /// The part after `fuse.` of the file system type: at most 63 bytes of letters, digits, `-` and `_`.
    public var subtype: String
    public var isReadOnly = false
    /// Whether other users have access (`allow_other`). fusermount3 permits it only with `user_allow_other` in
    /// /etc/fuse.conf.
    public var allowsOtherUsers = false
    /// Whether root has access, but no other user except the mounting one (`allow_root`).
    ///
    /// The kernel only knows `allow_other`, so libfuse answers other users with EACCES. Has the requirements of
    /// `allowsOtherUsers`, and other users must not have permission to search the root directory, because the kernel
    /// returns cached data according to permissions.
    public var allowsRoot = false
    /// Whether no program on the mount can be executed (`noexec`).
    public var forbidsPrograms = false
    /// Further options of mount.fuse3(8), each as `name` or `name=value`.
    public var extraOptions: [String] = []
    /// The number of threads that serve requests which may block on a disk or another caller, 1 to 128. Further such
    /// requests are queued, while another thread continues to receive. A handler that yields the receiver role
    /// (``Request/willBlock()``) does not count.
    ///
    /// Idle threads exit after some seconds, except four. Four locked receive buffers of about 1 MiB, of which only the
    /// used part is resident, are sufficient: a short message is moved to a separate page, and a handler releases a
    /// long message before it waits (``Request/releaseMessage()``).
    public var workers = 4
    /// The time for which the receiver polls after a request before it blocks, in microseconds.
    ///
    /// Waking a blocked thread on another CPU takes longer than a whole request. 0 saves the CPU time.
    public var pollMicroseconds = 50

    /// Whether the thread that receives a READ, WRITE or CREATE serves it, too. For a file system that announces long
    /// or blocking calls itself (``Request/willBlock()``). Waking another thread takes longer than a short request.
    public var receiverServesIO = false

    /// The newest minor version of the kernel's protocol whose features are used, so that the behavior of older kernels
    /// can be tested on a newer one.
    public var newestProtocolMinor = UInt32.max

    public init(source: String, subtype: String) {
        self.source = source
        self.subtype = subtype
    }

    /// The maximum size of a READ in bytes, and of the plaintext that a file system must have in memory at a time.
    public static let maximumRead = 131_072
    /// The maximum size of a WRITE in bytes.
    public static let maximumWrite = 1 << 20
}
