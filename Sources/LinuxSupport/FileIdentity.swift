public import SystemPackage

/// The device and inode number of a file (inode(7)): equal for all paths of one file.
public struct FileIdentity: Hashable, Sendable {
    /// `st_dev` of stat(2).
    public let device: UInt64
    /// `st_ino` of stat(2).
    public let inode: UInt64

    public init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }

    public init(_ stat: Stat) {
        self.init(device: UInt64(stat.deviceID.rawValue), inode: UInt64(stat.inode.rawValue))
    }

    public init(_ status: FileStatus) { self.init(device: status.device, inode: status.inode) }
}
