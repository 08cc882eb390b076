import CFuse3

/// The heap of this process.
public enum ProcessMemory {
    /// Gives free pages back to the system (malloc_trim(3)): glibc keeps what lies between pages in use for ever.
    public static func giveBack() {
        malloc_trim(0)
    }
}
