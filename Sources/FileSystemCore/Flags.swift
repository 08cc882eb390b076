/// The flags of open(2) that reach a file system.
public struct OpenFlags: OptionSet, Hashable, Sendable {
    public var rawValue: Int32

    public init(rawValue: Int32) { self.rawValue = rawValue }

    public static let writeOnly = OpenFlags(rawValue: 0o1)
    public static let readWrite = OpenFlags(rawValue: 0o2)
    public static let create = OpenFlags(rawValue: 0o100)
    public static let exclusive = OpenFlags(rawValue: 0o200)
    public static let truncate = OpenFlags(rawValue: 0o1000)
    public static let append = OpenFlags(rawValue: 0o2000)
    public static let dsync = OpenFlags(rawValue: 0o10000)
    /// `O_SYNC`, which includes the bit of `O_DSYNC`.
    public static let sync = OpenFlags(rawValue: 0o4010000)

    /// Whether write(2) is allowed on the descriptor.
    public var isWritable: Bool { rawValue & 0o3 != 0 }
    /// Whether read(2) is allowed on the descriptor.
    public var isReadable: Bool { rawValue & 0o3 != 1 }
    /// Whether each write must be durable when it returns (O_SYNC or O_DSYNC).
    public var isSynchronous: Bool { contains(.dsync) }
}

/// The flags of renameat2(2).
public struct RenameFlags: OptionSet, Hashable, Sendable {
    public var rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// `RENAME_NOREPLACE`.
    public static let noReplace = RenameFlags(rawValue: 1)
    /// `RENAME_EXCHANGE`.
    public static let exchange = RenameFlags(rawValue: 2)
}

/// The flags of setxattr(2).
public struct XattrFlags: OptionSet, Hashable, Sendable {
    public var rawValue: Int32

    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// `XATTR_CREATE`: fail with EEXIST if the attribute exists.
    public static let create = XattrFlags(rawValue: 1)
    /// `XATTR_REPLACE`: fail with ENODATA if the attribute does not exist.
    public static let replace = XattrFlags(rawValue: 2)
}
