import CFuse3
import FileSystemCore
import Glibc

extension timespec {
    init(_ time: Timestamp) {
        self.init(tv_sec: Int(time.seconds), tv_nsec: Int(time.nanoseconds))
    }
}

extension Timestamp {
    init(_ time: timespec) {
        self.init(seconds: Int64(time.tv_sec), nanoseconds: Int32(truncatingIfNeeded: time.tv_nsec))
    }
}

extension stat {
    init(_ attributes: Attributes) {
        self.init()
        st_ino = UInt(attributes.inode.rawValue)
        st_mode = attributes.type.rawValue | (attributes.permissions & 0o7777)
        st_nlink = numericCast(attributes.linkCount)
        st_uid = attributes.userID
        st_gid = attributes.groupID
        st_size = Int(clamping: attributes.size)
        st_blocks = Int(clamping: attributes.blocks)
        st_blksize = 4096
        st_atim = timespec(attributes.accessTime)
        st_mtim = timespec(attributes.modificationTime)
        st_ctim = timespec(attributes.changeTime)
    }
}

extension fuse_entry_param {
    /// Node IDs are never reused, so one generation is sufficient.
    init(_ entry: Entry) {
        self.init()
        ino = entry.node.rawValue
        generation = 1
        attr = stat(entry.attributes)
        attr_timeout = entry.attributeTimeout
        entry_timeout = entry.entryTimeout
    }
}

extension fuse_file_info {
    init(_ file: OpenFileInfo) {
        self.init()
        fh = file.handle.rawValue
        direct_io = file.directIO ? 1 : 0
        if file.noFlush { unsafe cfuse3_omit_flush(&self) }
        nonseekable = file.nonSeekable ? 1 : 0
    }
}

extension statvfs {
    init(_ statistics: FileSystemStatistics) {
        self.init()
        f_bsize = UInt(clamping: statistics.blockSize)
        f_frsize = UInt(clamping: statistics.blockSize)
        f_blocks = UInt(clamping: statistics.blocks)
        f_bfree = UInt(clamping: statistics.freeBlocks)
        f_bavail = UInt(clamping: statistics.availableBlocks)
        f_files = UInt(clamping: statistics.files)
        f_ffree = UInt(clamping: statistics.freeFiles)
        f_favail = UInt(clamping: statistics.freeFiles)
        f_namemax = UInt(clamping: statistics.maximumNameLength)
    }
}
