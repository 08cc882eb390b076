/// The statistics of a file system, as in `statvfs(3)`.
public struct FileSystemStatistics: Sendable {
    /// The unit of the block counts in bytes.
    public var blockSize: UInt64
    public var blocks: UInt64
    public var freeBlocks: UInt64
    public var availableBlocks: UInt64
    public var files: UInt64
    public var freeFiles: UInt64
    /// The maximum length of a name in bytes (`f_namemax`).
    public var maximumNameLength: UInt64

    public init(
        blockSize: UInt64, blocks: UInt64, freeBlocks: UInt64, availableBlocks: UInt64, files: UInt64,
        freeFiles: UInt64, maximumNameLength: UInt64
    ) {
        self.blockSize = blockSize
        self.blocks = blocks
        self.freeBlocks = freeBlocks
        self.availableBlocks = availableBlocks
        self.files = files
        self.freeFiles = freeFiles
        self.maximumNameLength = maximumNameLength
    }

    /// The number of bytes that an ordinary user can still write, clamped to 64 bits.
    public var availableBytes: UInt64 {
        let bytes = availableBlocks.multipliedReportingOverflow(by: blockSize)
        return bytes.overflow ? .max : bytes.partialValue
    }
}
