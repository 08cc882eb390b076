import CFaultVFS

/// A disk below a directory that refuses writes on request: a commit fails without a warning.
final class FailingDisk {
    private let disk: OpaquePointer
    /// SQLITE_FULL
    private static let full: Int32 = 13

    init(_ folder: String) { disk = fault_vfs_make(folder) }

    deinit { fault_vfs_free(disk) }

    func fail(_ isFailing: Bool) {
        let kinds = isFailing ? fault_write.rawValue : 0
        let plan = fault_plan(kinds: kinds, first: 0, count: -1, code: Self.full, error: 0)
        fault_vfs_set_plan(disk, plan)
    }

    /// Runs `body` on a disk that works.
    func paused<Result>(_ body: () throws -> Result) rethrows -> Result {
        fault_vfs_pause(disk, true)
        defer { fault_vfs_pause(disk, false) }
        return try body()
    }
}
