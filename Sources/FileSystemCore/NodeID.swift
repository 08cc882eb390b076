/// The kernel's identifier of a node while it holds a reference to it (`fuse_ino_t`).
///
/// A 64-bit counter that is never reused within a mount. Different from `st_ino` (see ``InodeNumber``).
public struct NodeID: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The root of the mount (`FUSE_ROOT_ID`).
    public static let root = NodeID(rawValue: 1)
}

/// The `st_ino` of a file in `stat(2)`, constant across mounts.
public struct InodeNumber: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The identifier of an open file or directory in the file system (`fuse_file_info.fh`).
public struct HandleID: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// An opaque identifier of a process's descriptor table (`fuse_file_info.lock_owner`).
///
/// A process that inherited a descriptor by fork(2) has another one. Zero if the kernel sends none.
public struct LockOwner: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }
}
