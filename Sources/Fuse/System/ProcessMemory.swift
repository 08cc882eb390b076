import CFuse3
import Glibc

/// The memory of this process.
public enum ProcessMemory {
    /// Gives free pages of the heap back to the system (malloc_trim(3)): glibc keeps what lies between pages in use for
    /// ever. Likewise the pages of code: most of it has run at the start and will not run again.
    public static func trimHeap() {
        malloc_trim(0)
        evictCode()
    }

    /// The kernel maps code again, out of the page cache, where it is run. Mappings that can be written to are left alone,
    /// and those that could once: relocations are in them.
    private static func evictCode() {
        for line in ProcFile.readAll("/proc/self/maps")?.split(separator: "\n") ?? [] {
            guard let code = range(ofCode: line) else { continue }
            unsafe madvise(UnsafeMutableRawPointer(bitPattern: code.lowerBound), code.count, MADV_DONTNEED)
        }
    }

    /// Of a line of `/proc/PID/maps` (proc_pid_maps(5)): the addresses, if a file is mapped there to be run.
    static func range(ofCode line: Substring) -> Range<UInt>? {
        let fields = line.split(separator: " ", omittingEmptySubsequences: true)
        guard fields.count >= 6, fields[1] == "r-xp", fields[5].hasPrefix("/") else { return nil }
        let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        guard ends.count == 2, ends[0] < ends[1] else { return nil }
        return ends[0]..<ends[1]
    }

    /// Bytes below the present frame: deeper than any call of a file system has been seen to go.
    private static let wipeDepth = 256 * 1024
    /// What stays at the end of a small stack: room for a signal's frame and the calls of the wipe itself.
    private static let wipeMargin = 32 * 1024

    /// Overwrites what finished calls have left on this thread's stack: names, keys, plaintext in dead frames.
    ///
    /// Less where the stack is smaller: the main thread's is as large as RLIMIT_STACK allows (getrlimit(2)).
    public static func wipeStack() {
        cfuse3_wipe_stack(wipeDepth, wipeMargin)
        wipeRegisters()
    }

    /// Zeroes this thread's vector registers, where copying and decrypting leave the last bytes that they have moved.
    static func wipeRegisters() { cfuse3_wipe_registers() }
}
