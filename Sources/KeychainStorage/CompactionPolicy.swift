/// The condition under which a store replaces its file, when it is closed, with a copy without free pages.
package struct CompactionPolicy: Sendable {
    /// The maximum size in bytes of a file that is not compacted.
    let fileLimit: Int
    /// The maximum share of free pages in percent that are not released.
    let freePercentLimit: Int
    /// The time limit of the compaction, after which it is interrupted and the file stays unchanged. Nil: no limit.
    let timeLimit: Duration?

    /// At an unmount: more than 50 % of a file of more than 4 MiB is free.
    package static let atUnmount = CompactionPolicy(
        fileLimit: 4 << 20, freePercentLimit: 50, timeLimit: .seconds(3))
    /// On request: there is a free page.
    package static let onRequest = CompactionPolicy(fileLimit: 0, freePercentLimit: 0, timeLimit: nil)

    func applies(to space: FileSpace) -> Bool {
        space.bytes > fileLimit && space.freePages * 100 > space.pages * freePercentLimit
    }
}
