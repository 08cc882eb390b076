/// A name that the kernel may remember: its node, attributes, and for how long.
///
/// Handing one to the kernel (lookup, create, mkdir, mknod, readdirplus) adds one to the node's lookup count, which
/// `forget` takes back. Durations are in seconds; the source is `struct fuse_entry_param`.
public struct Entry: Sendable {
    public var node: NodeID
    public var attributes: Attributes
    /// How long the kernel may answer for the name itself.
    public var entryTimeout: Double
    /// How long the kernel may answer `stat` itself.
    public var attributeTimeout: Double

    public init(node: NodeID, attributes: Attributes, entryTimeout: Double, attributeTimeout: Double) {
        self.node = node
        self.attributes = attributes
        self.entryTimeout = entryTimeout
        self.attributeTimeout = attributeTimeout
    }
}

/// What a lookup found.
public enum LookupResult: Sendable {
    case found(Entry)
    /// There is no such name, and the kernel may say so itself for `timeout` seconds (0: ENOENT, not remembered).
    case absent(timeout: Double)
}

/// The attributes of a node and for how many seconds the kernel may answer for them.
public struct TimedAttributes: Sendable {
    public var attributes: Attributes
    public var timeout: Double

    public init(_ attributes: Attributes, timeout: Double) {
        self.attributes = attributes
        self.timeout = timeout
    }
}

/// How an open file behaves; the source is `struct fuse_file_info`.
public struct OpenFileInfo: Sendable {
    public var handle: HandleID
    /// read(2) and write(2) pass the page cache by.
    public var directIO = true
    /// close(2) sends no FLUSH.
    public var noFlush = false
    /// lseek(2) answers ESPIPE and offsets mean nothing.
    public var nonSeekable = false

    public init(handle: HandleID) { self.handle = handle }
}
