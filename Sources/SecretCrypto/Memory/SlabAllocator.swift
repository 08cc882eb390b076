/// The allocation table of an arena. Contains offsets and no pointers, so that it need not be wiped in a forked child.
///
/// The arena is divided into blocks of 4 KiB. A slab of at most 2 KiB has a size of 32, 64 … 2048 bytes and shares a
/// block with slabs of its size, aligned to it. A larger slab is a run of whole blocks. Small slabs and short runs are
/// allocated from the high end and long runs from the low end, so that keys and message chunks do not fragment the
/// space for long secrets. A block is free again when its last slab is.
struct SlabAllocator: Sendable {
    static let blockSize = 4096
    static let smallest = 32
    static let largestSmallSlab = 2048
    /// The maximum size of a short run in bytes. Longer runs contain secrets of items.
    static let shortRun = 128 << 10

    private struct Block {
        /// log2 of the slab size in a block of small slabs; 0 for a free block and a block of a run.
        var shift = 0
        /// Whether the block belongs to a run.
        var inRun = false
        /// The free slabs, one bit each.
        var free = SIMD2<UInt64>(0, 0)

        var isFree: Bool { shift == 0 && !inRun }
    }

    private var blocks: [Block]
    /// The blocks with a free slab, by log2 of the slab size.
    private var partial: [[Int]]
    /// The size of all allocated slabs in bytes.
    private(set) var bytesInUse = 0

    init(byteCount: Int) {
        blocks = Array(repeating: Block(), count: byteCount / Self.blockSize)
        partial = Array(repeating: [], count: Self.largestSmallSlab.trailingZeroBitCount + 1)
    }

    /// Returns the size of a slab for `count` bytes; nil if an arena of `capacity` bytes cannot contain it.
    static func slabSize(for count: Int, capacity: Int) -> Int? {
        guard count >= 0, count <= capacity, capacity > 0 else { return nil }
        if count <= smallest { return smallest }
        if count <= largestSmallSlab { return 1 << (Int.bitWidth - (count - 1).leadingZeroBitCount) }
        return (count + blockSize - 1) / blockSize * blockSize
    }

    /// Allocates a slab.
    ///
    /// - Parameter size: A result of `slabSize(for:capacity:)`.
    /// - Returns: The offset; nil if there is no free slab.
    mutating func allocate(_ size: Int) -> Int? {
        let offset =
            size <= Self.largestSmallSlab ? allocateSmall(shift: size.trailingZeroBitCount) : allocateRun(of: size)
        if offset != nil { bytesInUse += size }
        return offset
    }

    /// Frees a slab that `allocate` returned.
    mutating func free(_ offset: Int, size: Int) {
        bytesInUse -= size
        let first = offset / Self.blockSize
        if size > Self.largestSmallSlab {
            for index in first..<first + size / Self.blockSize { blocks[index].inRun = false }
        } else {
            freeSmall((offset % Self.blockSize) / size, in: first, shift: size.trailingZeroBitCount)
        }
    }

    private mutating func allocateSmall(shift: Int) -> Int? {
        if partial[shift].isEmpty {
            guard let fresh = blocks.lastIndex(where: \.isFree) else { return nil }
            blocks[fresh].shift = shift
            blocks[fresh].free = Self.allFree(shift: shift)
            partial[shift].append(fresh)
        }
        guard let index = partial[shift].last else { return nil }
        let lane = blocks[index].free[0] != 0 ? 0 : 1
        let bit = blocks[index].free[lane].trailingZeroBitCount
        blocks[index].free[lane] &= ~(1 << UInt64(bit))
        if blocks[index].free == SIMD2(0, 0) { partial[shift].removeLast() }
        return index * Self.blockSize + (lane * 64 + bit) << shift
    }

    private mutating func freeSmall(_ slot: Int, in index: Int, shift: Int) {
        if blocks[index].free == SIMD2(0, 0) { partial[shift].append(index) }
        blocks[index].free[slot / 64] |= 1 << UInt64(slot % 64)
        guard blocks[index].free == Self.allFree(shift: shift) else { return }
        blocks[index].shift = 0
        if let position = partial[shift].lastIndex(of: index) { partial[shift].remove(at: position) }
    }

    /// Allocates a run by first fit. An arena has a few hundred blocks, and filling a long run takes longer than the
    /// search.
    private mutating func allocateRun(of size: Int) -> Int? {
        let wanted = size / Self.blockSize
        let first = size <= Self.shortRun ? lastRun(of: wanted) : firstRun(of: wanted)
        guard let first else { return nil }
        for taken in first..<first + wanted { blocks[taken].inRun = true }
        return first * Self.blockSize
    }

    private func firstRun(of wanted: Int) -> Int? {
        var length = 0
        for index in blocks.indices {
            length = blocks[index].isFree ? length + 1 : 0
            if length == wanted { return index - wanted + 1 }
        }
        return nil
    }

    private func lastRun(of wanted: Int) -> Int? {
        var length = 0
        for index in blocks.indices.reversed() {
            length = blocks[index].isFree ? length + 1 : 0
            if length == wanted { return index }
        }
        return nil
    }

    private static func allFree(shift: Int) -> SIMD2<UInt64> {
        let slots = blockSize >> shift
        return slots == 128 ? SIMD2(.max, .max) : SIMD2(slots == 64 ? .max : (1 << UInt64(slots)) - 1, 0)
    }
}
