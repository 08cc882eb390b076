/// The number by which the kernel knows a node while it holds a reference to it (`fuse_ino_t`).
///
/// A 64-bit counter that is never used twice within a mount; not what `stat` shows (see ``InodeNumber``).
public struct NodeID: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The root of the mount; the corresponding C constant is `FUSE_ROOT_ID`.
    public static let root = NodeID(rawValue: 1)
}

/// The number that `stat(2)` shows as `st_ino`; stays with a file across mounts.
public struct InodeNumber: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The number under which a file system keeps an open file or directory (`fuse_file_info.fh`).
public struct HandleID: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// An opaque number that stands for a process's table of descriptors (`fuse_file_info.lock_owner`).
///
/// Processes that merely inherited a descriptor have another one. Zero where the kernel sends none.
public struct LockOwner: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }
}
