/// A name that the kernel may cache: its node, attributes and timeouts in seconds (`struct fuse_entry_param`).
///
/// Returning an entry to the kernel (lookup, create, mkdir, mknod, readdirplus) increments the node's lookup count;
/// `forget` decrements it.
public struct Entry: Sendable {
    public var node: NodeID
    public var attributes: Attributes
    /// The time for which the kernel may resolve the name without a request.
    public var entryTimeout: Double
    /// The time for which the kernel may answer `stat` without a request.
    public var attributeTimeout: Double

    public init(node: NodeID, attributes: Attributes, entryTimeout: Double, attributeTimeout: Double) {
        self.node = node
        self.attributes = attributes
        self.entryTimeout = entryTimeout
        self.attributeTimeout = attributeTimeout
    }
}

/// The result of a lookup.
public enum LookupResult: Sendable {
    case found(Entry)
    /// The name does not exist. The kernel may cache that for `timeout` seconds; with 0 it does not.
    case absent(timeout: Double)
}

/// The attributes of a node, and the number of seconds for which the kernel may cache them.
public struct TimedAttributes: Sendable {
    public var attributes: Attributes
    public var timeout: Double

    public init(_ attributes: Attributes, timeout: Double) {
        self.attributes = attributes
        self.timeout = timeout
    }
}

/// The properties of an open file (`struct fuse_file_info`).
public struct OpenFileInfo: Sendable {
    public var handle: HandleID
    /// Whether read(2) and write(2) bypass the page cache.
    public var directIO = true
    /// Whether close(2) sends no FLUSH.
    public var noFlush = false
    /// Whether lseek(2) fails with ESPIPE and offsets have no meaning.
    public var nonSeekable = false

    public init(handle: HandleID) { self.handle = handle }
}
