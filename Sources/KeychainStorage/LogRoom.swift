internal import Foundation
internal import SystemPackage
internal import SystemServices

/// Room in the write-ahead log that is there before it is needed.
///
/// A commit that overwrites blocks of a file waits for the disk about half as long as one that makes the file grow, for which
/// the file system has to write its own log, too. So what follows a commit that made the log grow are zeros, which SQLite
/// takes for the log's end. Best effort: without room commits are slower, and nothing else.
///
/// Used by the gate's owner alone: nobody else writes to the log meanwhile.
struct LogRoom {
    /// How much is added at a time, in bytes: as much as the log has, within these.
    private static let share = 256 * 1024...1024 * 1024
    /// What has to be free on the disk besides, in bytes.
    private static let spare = 64 * 1024 * 1024

    private let path: String
    /// Where the room ended that was made last.
    private var end = 0

    init(path: String) { self.path = path }

    /// After a commit: makes room if that commit has used up what there was.
    mutating func renew() {
        guard let status = UntimedStatus(at: path) else { return }
        let size = Int(clamping: status.size)
        // It has been emptied since.
        if size < end { end = 0 }
        guard size > end else { return }
        let count = min(max(size, Self.share.lowerBound), Self.share.upperBound)
        end = hasSpace(for: count) && add(count, at: size) ? size + count : size
    }

    private func hasSpace(for count: Int) -> Bool {
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: path)
        guard let free = attributes?[.systemFreeSize] as? NSNumber else { return false }
        return free.int64Value > Self.spare + count
    }

    /// Not synchronized: the next commit does that.
    private func add(_ count: Int, at offset: Int) -> Bool {
        guard let log = try? FileDescriptor.open(FilePath(path), .writeOnly, options: [.closeOnExec, .noFollow])
        else {
            return false
        }
        defer { try? log.close() }
        do {
            try log.writeAll(toAbsoluteOffset: Int64(offset), [UInt8](repeating: 0, count: count))
            return true
        } catch {
            try? log.resize(to: Int64(offset))
            return false
        }
    }
}
