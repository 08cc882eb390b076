internal import Foundation
internal import LinuxSupport
internal import SystemPackage

/// Room in the write-ahead log that is there before it is needed.
///
/// A commit that overwrites blocks of a file waits for the disk about half as long as one that makes the file grow, for which
/// the file system has to write its own log, too. So what follows a commit that made the log grow are zeros, which SQLite
/// takes for the log's end. Best effort: without room commits are slower, and nothing else.
///
/// Used by the gate's owner alone: nobody else writes to the log meanwhile.
struct LogPreallocation {
    /// How much is added at a time, in bytes: as much as the log has, within these.
    private static let share = 256 * 1024...1024 * 1024
    /// What has to be free on the disk besides, in bytes.
    private static let spare = 64 * 1024 * 1024

    private let path: String
    /// Where the room ended that was made last.
    private var end = 0

    init(path: String) { self.path = path }

    /// Extends the log with zeros after a commit that has used up the previous extension.
    ///
    /// - Parameter log: The log that SQLite has open, nil if it is not known. Any other file of that name stays as it is.
    mutating func replenish(_ log: FileIdentity?) {
        guard let status = FileStatus(at: path), log == FileIdentity(status) else { return }
        let size = Int(clamping: status.size)
        // It has been emptied since.
        if size < end { end = 0 }
        guard size > end else { return }
        let count = min(max(size, Self.share.lowerBound), Self.share.upperBound)
        end = hasSpace(for: count) && add(count, at: size, to: FileIdentity(status)) ? size + count : size
    }

    private func hasSpace(for count: Int) -> Bool {
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: path)
        guard let free = attributes?[.systemFreeSize] as? NSNumber else { return false }
        return free.int64Value > Self.spare + count
    }

    /// Not synchronized: the next commit does that.
    private func add(_ count: Int, at offset: Int, to identity: FileIdentity) -> Bool {
        // The caller holds the connection, so that a FIFO in place of the log must not block.
        let options: FileDescriptor.OpenOptions = [.closeOnExec, .noFollow, .nonBlocking]
        guard let log = try? FileDescriptor.open(FilePath(path), .writeOnly, options: options) else { return false }
        defer { try? log.close() }
        guard let status = try? Stat(log), FileIdentity(status) == identity else { return false }
        do {
            try log.writeAll(toAbsoluteOffset: Int64(offset), [UInt8](repeating: 0, count: count))
            return true
        } catch {
            try? log.resize(to: Int64(offset))
            return false
        }
    }
}
