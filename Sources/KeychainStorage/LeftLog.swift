internal import Foundation
internal import LinuxSupport
internal import SystemPackage

/// The write-ahead log that an earlier process has left next to a store, read without SQLite.
///
/// SQLite copies the pages of any log with valid checksums into the database next to it, because neither file
/// identifies the other. A log is therefore passed to SQLite only after its images of the store page have proved that
/// it belongs to the file.
///
/// The first transaction in an empty log writes the store page back unchanged (``WriterConnection/beginLog(_:_:)``), and
/// every other transaction changes the header row in that page, which then has a new random nonce. The page in the file
/// is therefore the first image or, after a checkpoint, a later one. No log of another store, of an older or newer copy
/// or of a fork contains it.
///
/// Format: <https://www.sqlite.org/fileformat2.html#the_write_ahead_log>.
struct LeftLog {
    enum Finding: Equatable {
        /// No log, or one without a committed transaction, which SQLite ignores.
        case empty
        /// The log has committed transactions that belong to the file.
        case belongs
        /// The log has committed transactions of another file, or of another state of this one.
        case mismatched
    }

    /// The size of a page in bytes, and of a frame with a page.
    static let pageSize = 4096
    static let frameSize = LogFrames.frameHeaderSize + pageSize
    /// The unit that a disk writes atomically. After a power failure during a checkpoint the page can be a mixture of
    /// two images.
    private static let sectorSize = 512

    /// Compares the log at `path` with `store`, a descriptor of the file. The position of the descriptor is irrelevant.
    ///
    /// - Throws: The error of opening or reading the log; ``StoreOpenError/foreignFile(path:)`` if it is not a regular
    ///   file.
    static func finding(at path: String, store: FileDescriptor) throws(StoreOpenError) -> Finding {
        guard let log = try open(path) else { return .empty }
        defer { try? log.close() }
        return try finding(in: log, store: store)
    }

    static func finding(in log: FileDescriptor, store: FileDescriptor) throws(StoreOpenError) -> Finding {
        let page = try read(store, at: Int64(pageSize) * Int64(Schema.storePage - 1), count: pageSize)
        var sectors = hasStoreRow(page) ? SectorMatch(page, sectorSize: sectorSize) : nil
        guard var frames = LogFrames(header: try read(log, at: 0, count: LogFrames.headerSize)) else { return .empty }
        // SQLite takes the page size from the log. It refuses another version, with an error that does not name the
        // log.
        guard frames.pageSize == pageSize, frames.version == LogFrames.supportedVersion else { return .mismatched }
        var hasCommit = false
        var image: [UInt8]?
        var offset = Int64(LogFrames.headerSize)
        while let frame = frames.next(try read(log, at: offset, count: frameSize)) {
            offset += Int64(frameSize)
            if frame.page == Schema.storePage { image = frame.contents }
            guard frame.isCommit else { continue }
            hasCommit = true
            if let image { sectors?.compare(image) }
        }
        guard hasCommit else { return .empty }
        return sectors?.isComplete == true ? .belongs : .mismatched
    }

    /// Whether a page is the leaf of a table with one row (<https://www.sqlite.org/fileformat2.html#b_tree_pages>).
    /// Without a row, the page would be equal to an empty one of any other database.
    private static func hasStoreRow(_ page: [UInt8]) -> Bool {
        page.count == pageSize && page[0] == 13 && page[3] == 0 && page[4] == 1
    }

    /// Opens the log; nil if it does not exist. Does not follow symbolic links, and does not block on a FIFO.
    static func open(_ path: String) throws(StoreOpenError) -> FileDescriptor? {
        let log: FileDescriptor
        do {
            log = try FileDescriptor.open(FilePath(path), .readOnly, options: [.closeOnExec, .noFollow, .nonBlocking])
        } catch Errno.noSuchFileOrDirectory, Errno.fileNameTooLong {
            return nil
        } catch Errno.tooManySymbolicLinkLevels {
            throw .foreignFile(path: path)
        } catch {
            throw StoreOpenError(error as? Errno ?? .ioError)
        }
        guard (try? Stat(log).type) == .regular else {
            try? log.close()
            throw .foreignFile(path: path)
        }
        return log
    }

    /// Reads `count` bytes; fewer at the end of the file.
    private static func read(_ file: FileDescriptor, at offset: Int64, count: Int) throws(StoreOpenError) -> [UInt8] {
        do {
            let handle = FileHandle(fileDescriptor: file.rawValue, closeOnDealloc: false)
            try handle.seek(toOffset: UInt64(offset))
            return [UInt8](try handle.read(upToCount: count) ?? Data())
        } catch {
            throw .io(-Errno.ioError.rawValue)
        }
    }
}

/// The comparison of a page with several images: a sector matches if any image has the same bytes at its position.
private struct SectorMatch {
    private let page: [UInt8]
    private let sectorSize: Int
    private var missing: Set<Int>

    var isComplete: Bool { missing.isEmpty }

    init(_ page: [UInt8], sectorSize: Int) {
        self.page = page
        self.sectorSize = sectorSize
        missing = Set(stride(from: 0, to: page.count, by: sectorSize))
    }

    mutating func compare(_ image: [UInt8]) {
        missing = missing.filter { start in
            let range = start..<start + sectorSize
            return page[range] != image[range]
        }
    }
}
