/// What `statvfs(3)` shows.
public struct FileSystemStatistics: Sendable {
    /// In bytes: the unit of the block counts.
    public var blockSize: UInt64
    public var blocks: UInt64
    public var freeBlocks: UInt64
    public var availableBlocks: UInt64
    public var files: UInt64
    public var freeFiles: UInt64
    /// In bytes: `f_namemax`.
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

    /// What an ordinary user can still write, as far as the numbers hold it.
    public var availableBytes: UInt64 {
        let bytes = availableBlocks.multipliedReportingOverflow(by: blockSize)
        return bytes.overflow ? .max : bytes.partialValue
    }
}
