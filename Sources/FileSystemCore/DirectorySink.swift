/// A receiver for the entries of a directory listing.
///
/// `offset` identifies the position after an entry: the next readdir request continues there. Both `add` methods return
/// false, and add nothing, if the reply has no space for the entry; the listing then stops.
public protocol DirectorySink {
    /// Adds a name with its type and inode number.
    mutating func add(_ name: EntryName, inode: InodeNumber, type: FileType, offset: UInt64) -> Bool

    /// Whether the caller requests a full entry for each name (READDIRPLUS), which counts as a lookup.
    var wantsEntries: Bool { get }

    /// Adds a name with its entry. Only if ``wantsEntries``. `.` and `..` are added by the other method.
    mutating func add(_ name: EntryName, entry: Entry, offset: UInt64) -> Bool
}
