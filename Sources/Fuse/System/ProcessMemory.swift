import CFuse3
import Glibc

/// The memory of this process.
public enum ProcessMemory {
    /// Returns free heap pages to the system (malloc_trim(3)), because glibc otherwise retains free pages between used
    /// ones indefinitely. Evicts the pages of code, most of which is used only at the start.
    public static func trimHeap() {
        malloc_trim(0)
        evictCode()
    }

    /// Evicts code pages. The kernel maps them again from the page cache when they are executed. Skips writable
    /// mappings and those that once were, because they contain relocations.
    private static func evictCode() {
        for line in ProcFile.readAll("/proc/self/maps")?.split(separator: "\n") ?? [] {
            guard let code = range(ofCode: line) else { continue }
            unsafe madvise(UnsafeMutableRawPointer(bitPattern: code.lowerBound), code.count, MADV_DONTNEED)
        }
    }

    /// Parses a line of `/proc/PID/maps` (proc_pid_maps(5)). Returns the addresses if the mapping is executable and of
    /// a file.
    static func range(ofCode line: Substring) -> Range<UInt>? {
        let fields = line.split(separator: " ", omittingEmptySubsequences: true)
        guard fields.count >= 6, fields[1] == "r-xp", fields[5].hasPrefix("/") else { return nil }
        let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        guard ends.count == 2, ends[0] < ends[1] else { return nil }
        return ends[0]..<ends[1]
    }

    /// The number of bytes below the present frame that are wiped, more than any call of a file system has been
    /// observed to use.
    private static let wipeDepth = 256 * 1024
    /// The bytes at the end of a small stack that are not wiped: space for a signal frame and for the calls of the wipe
    /// itself.
    private static let wipeMargin = 32 * 1024

    /// Overwrites the remains of finished calls on this thread's stack: names, keys and plaintext in unused frames.
    ///
    /// Wipes less on a smaller stack. The main thread's stack is limited by RLIMIT_STACK (getrlimit(2)).
    public static func wipeStack() {
        cfuse3_wipe_stack(wipeDepth, wipeMargin)
        wipeRegisters()
    }

    /// Zeroes this thread's vector registers, in which copying and decryption leave the last bytes that they have
    /// processed.
    static func wipeRegisters() { cfuse3_wipe_registers() }
}
