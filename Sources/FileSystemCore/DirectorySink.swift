/// Where a directory listing goes, one entry at a time.
///
/// `offset` is what readdir continues after: the next call asks for what follows it. Both methods return false, and
/// take nothing, when the reply has no room for the entry; the listing stops there.
public protocol DirectorySink {
    /// Adds a name with its type and inode number.
    mutating func add(_ name: EntryName, inode: InodeNumber, type: FileType, offset: UInt64) -> Bool

    /// Whether the caller wants a full entry for each name (READDIRPLUS), which counts as a lookup of it.
    var wantsEntries: Bool { get }

    /// Adds a name with its entry; only if ``wantsEntries``. `.` and `..` go through the other method.
    mutating func add(_ name: EntryName, entry: Entry, offset: UInt64) -> Bool
}
