import CFuse3

/// The memory of this process.
public enum ProcessMemory {
    /// Gives free pages back to the system (malloc_trim(3)): glibc keeps what lies between pages in use for ever.
    public static func giveBack() {
        malloc_trim(0)
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
    }
}
