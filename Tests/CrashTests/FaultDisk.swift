import CFaultVFS
import Foundation

/// A directory whose databases SQLite accesses through a VFS that records each write and fails on request.
final class FaultDisk: Sendable {
    /// A call of SQLite's. What failed has changed nothing.
    struct Event: Sendable {
        enum Action: Sendable {
            case write(offset: Int, bytes: [UInt8])
            case truncate(size: Int)
            case sync
            /// The creation of a file that did not exist.
            case create
            case delete(isDurable: Bool)
            case other
        }

        let action: Action
        let file: StoredFile
        let hasFailed: Bool
    }

    /// The calls that fail, and how.
    struct Plan: Sendable, Hashable {
        var kinds: UInt32
        var first: Int
        /// Negative: from then on.
        var count: Int
        var code: Int32
        /// The errno of the system call; 0 if only the code matters.
        var error: Int32 = 0
    }

    let path: String
    nonisolated(unsafe) private let disk: OpaquePointer

    init() throws {
        let folder = URL(fileURLWithPath: "/var/tmp").appendingPathComponent("keychainfs-disk-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        path = folder.path
        disk = fault_vfs_make(path)
    }

    deinit {
        fault_vfs_free(disk)
        try? FileManager.default.removeItem(atPath: path)
    }

    var keychain: String { path + "/login.keychain" }

    /// The number of calls up to now that change a file or make it durable.
    var eventCount: Int { Int(fault_vfs_event_count(disk)) }

    /// The number of calls of these kinds up to now.
    func callCount(of kinds: UInt32) -> Int { Int(fault_vfs_calls(disk, kinds)) }
    /// The number of calls that failed on request.
    var failureCount: Int { Int(fault_vfs_failures(disk)) }

    func fail(_ plan: Plan?) {
        let plan = plan ?? Plan(kinds: 0, first: 0, count: 0, code: 0)
        fault_vfs_set_plan(
            disk,
            fault_plan(
                kinds: plan.kinds, first: Int64(plan.first), count: Int64(plan.count), code: plan.code,
                error: plan.error))
    }

    /// Runs `body` while no call fails or is counted.
    func paused<Result>(_ body: () throws -> Result) rethrows -> Result {
        fault_vfs_pause(disk, true)
        defer { fault_vfs_pause(disk, false) }
        return try body()
    }

    subscript(index: Int) -> Event {
        let event = fault_vfs_event(disk, Int64(index))
        let file: StoredFile = event.is_other ? .other : event.is_log ? .log : .database
        return Event(action: Self.action(event), file: file, hasFailed: event.failed)
    }

    private static func bytes(_ event: fault_event) -> [UInt8] {
        [UInt8](UnsafeBufferPointer(start: event.bytes, count: event.bytes == nil ? 0 : Int(event.count)))
    }

    private static func action(_ event: fault_event) -> Event.Action {
        switch event.kind {
        case fault_write:
            .write(offset: Int(event.offset), bytes: bytes(event))
        case fault_truncate: .truncate(size: Int(event.offset))
        case fault_sync: .sync
        case fault_open: .create
        case fault_delete: .delete(isDurable: event.count != 0)
        default: .other
        }
    }
}

/// The files that a keychain consists of.
enum StoredFile: Hashable, Sendable {
    case database, log
    /// A temporary file or a copy.
    case other
}
