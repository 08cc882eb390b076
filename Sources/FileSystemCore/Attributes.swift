/// A point in time, as in `struct timespec`: seconds and nanoseconds since 1970-01-01T00:00:00Z.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// The seconds; negative before 1970.
    public var seconds: Int64
    /// The nanoseconds, 0 to 999,999,999.
    public var nanoseconds: Int32

    public init(seconds: Int64, nanoseconds: Int32 = 0) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    public static func < (a: Timestamp, b: Timestamp) -> Bool {
        (a.seconds, a.nanoseconds) < (b.seconds, b.nanoseconds)
    }
}

/// The type of an inode. Raw values are the `S_IFMT` bits of `st_mode` (inode(7)).
public enum FileType: UInt32, Sendable {
    case fifo = 0o010000
    case characterDevice = 0o020000
    case directory = 0o040000
    case blockDevice = 0o060000
    case regular = 0o100000
    case symbolicLink = 0o120000
    case socket = 0o140000

    /// The bits of `st_mode` that contain the type (`S_IFMT`).
    public static let mask: UInt32 = 0o170000
}

/// The attributes of an inode, as in `stat(2)`.
public struct Attributes: Hashable, Sendable {
    public var inode: InodeNumber
    public var type: FileType
    /// The permission bits, including set-user-ID, set-group-ID and sticky (`st_mode & 07777`).
    public var permissions: UInt32
    public var linkCount: UInt32
    public var userID: UInt32
    public var groupID: UInt32
    /// The size in bytes.
    public var size: UInt64
    /// The times of the last access, the last change of the contents and the last change of the inode.
    public var accessTime: Timestamp
    public var modificationTime: Timestamp
    public var changeTime: Timestamp

    public init(
        inode: InodeNumber, type: FileType, permissions: UInt32, linkCount: UInt32, userID: UInt32, groupID: UInt32,
        size: UInt64, accessTime: Timestamp, modificationTime: Timestamp, changeTime: Timestamp
    ) {
        self.inode = inode
        self.type = type
        self.permissions = permissions
        self.linkCount = linkCount
        self.userID = userID
        self.groupID = groupID
        self.size = size
        self.accessTime = accessTime
        self.modificationTime = modificationTime
        self.changeTime = changeTime
    }

    /// The number of blocks of 512 bytes (`st_blocks`).
    public var blocks: UInt64 { (size + 511) / 512 }
}

/// The changes that SETATTR requests. A nil member stays unchanged.
public struct AttributeChanges: Hashable, Sendable {
    /// A new time, as in utimensat(2).
    public enum Time: Hashable, Sendable {
        /// The current time (`UTIME_NOW`).
        case now
        case at(Timestamp)
    }

    /// The permission bits (`st_mode & 07777`).
    public var permissions: UInt32?
    public var userID: UInt32?
    public var groupID: UInt32?
    /// The size in bytes: truncate(2) and ftruncate(2).
    public var size: UInt64?
    public var accessTime: Time?
    public var modificationTime: Time?
    /// The handle of the descriptor that ftruncate(2) or futimens(2) used.
    public var handle: HandleID?
    /// The lock owner of the truncating process; zero unless `size` is set.
    public var lockOwner = LockOwner(rawValue: 0)

    public init() {}
}
