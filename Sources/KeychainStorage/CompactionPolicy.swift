/// The condition under which a store that is being closed replaces its file with a copy without free pages.
package struct CompactionPolicy: Sendable {
    /// A file of at most this size, in bytes, is not compacted.
    let fileLimit: Int
    /// Free pages of at most this share of the file, in percent, are not released.
    let freePercentLimit: Int
    /// The time after which the compaction is interrupted. The file is then not modified. Nil: no limit.
    let timeLimit: Duration?

    /// At an unmount: more than half of a file of more than 4 MiB is free.
    package static let atUnmount = CompactionPolicy(
        fileLimit: 4 << 20, freePercentLimit: 50, timeLimit: .seconds(5))
    /// On request: there is a free page.
    package static let onRequest = CompactionPolicy(fileLimit: 0, freePercentLimit: 0, timeLimit: nil)

    func applies(to space: FileSpace) -> Bool {
        space.bytes > fileLimit && space.freePages * 100 > space.pages * freePercentLimit
    }
}
