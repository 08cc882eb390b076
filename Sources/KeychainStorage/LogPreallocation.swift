internal import Foundation
internal import LinuxSupport
internal import SystemPackage

/// Space in the write-ahead log that is allocated before it is needed.
///
/// A commit that overwrites blocks of a file waits for the disk about half as long as a commit that extends the file, which
/// requires a write of the file system's journal, too. After a commit that extended the log, zeros are appended, which
/// SQLite takes for the log's end. If that fails, commits are slower, without another effect.
///
/// Used only by the owner of the connection's lock, so that no other thread writes to the log.
struct LogPreallocation {
    /// The range of the number of bytes that are appended at a time: as many as the log has.
    private static let share = 256 * 1024...1024 * 1024
    /// The number of bytes that must stay free on the disk.
    private static let spare = 64 * 1024 * 1024

    private let path: String
    /// The end of the last extension.
    private var end = 0

    init(path: String) { self.path = path }

    /// Extends the log with zeros after a commit that has used up the previous extension.
    ///
    /// - Parameter log: The log that SQLite has open; nil if it is unknown. Another file with that name stays
    ///   unchanged.
    mutating func replenish(_ log: FileIdentity?) {
        guard let status = FileStatus(at: path), log == FileIdentity(status) else { return }
        let size = Int(clamping: status.size)
        // The log has been truncated since.
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

    /// Appends zeros without synchronizing them; the next commit does that.
    private func add(_ count: Int, at offset: Int, to identity: FileIdentity) -> Bool {
        // Non-blocking: the caller holds the connection's lock, and a FIFO in place of the log must not block it.
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
