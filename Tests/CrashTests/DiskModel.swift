import KeychainTesting
import TestSupport

/// A file on a disk whose power can fail: its durable state, and the changes since.
struct FileModel {
    /// The write of one sector, a new size, or the creation or removal of the file's name. Each piece reaches the disk
    /// independently and in any order, or not at all, until a sync has succeeded.
    enum Piece {
        case bytes(offset: Int, [UInt8])
        case size(Int)
        case name(exists: Bool)
    }

    /// The data that is certainly on the disk, or nil if the file does not exist.
    private(set) var durable: [UInt8]?
    /// In the order in which it was done.
    private(set) var pending: [Piece] = []
    /// Whether a piece was pending at a sync that failed. The kernel marks it as clean and never retries, so it may or
    /// may not be on the disk.
    private var isDoubtful: [Bool] = []
    /// Indices of pieces that are durable, while there are doubtful ones before them.
    private var sure: Set<Int> = []

    init(durable: [UInt8]?) { self.durable = durable }

    mutating func apply(_ event: FaultDisk.Event, sector: Int) {
        switch event.action {
        case .write(let offset, let bytes):
            guard !event.hasFailed else { return }
            for (place, piece) in Self.split(bytes, at: offset, sector) { add(.bytes(offset: place, piece)) }
        case .truncate(let size): if !event.hasFailed { add(.size(size)) }
        case .create: if !event.hasFailed { add(.name(exists: true)) }
        case .delete(let isDurable):
            guard !event.hasFailed else { return }
            add(.name(exists: false))
            if isDurable { settle() }
        case .sync:
            if event.hasFailed { isDoubtful = isDoubtful.map { _ in true } } else { settle() }
        case .other: break
        }
    }

    private mutating func add(_ piece: Piece) {
        pending.append(piece)
        isDoubtful.append(false)
    }

    /// Applies a successful sync, which does not cover pieces of an earlier failed one.
    private mutating func settle() {
        guard isDoubtful.contains(true) else {
            durable = image { _ in true }
            (pending, isDoubtful) = ([], [])
            return
        }
        // Later writes are durable and cover the doubtful ones, regardless of the order in which those reach the disk.
        sure = sure.union(isDoubtful.indices.filter { !isDoubtful[$0] })
    }

    /// The pieces that a power cut decides about, by their places in ``pending``.
    var choices: [Int] { pending.indices.filter { !sure.contains($0) } }

    /// The file after a power cut now, if of the pending pieces those reach the disk for which `keeps` returns true.
    ///
    /// A piece that a later one of the same sector has overtaken does not undo it.
    func image(_ keeps: (Int) -> Bool) -> [UInt8]? {
        var contents = durable
        // What goes to a new file whose name is lost does not go to the old one.
        var isNameless = false
        for (index, piece) in pending.enumerated() {
            let isKept = sure.contains(index) || keeps(index)
            if case .name(true) = piece { isNameless = !isKept }
            guard isKept, !isNameless else { continue }
            switch piece {
            case .bytes(let offset, let bytes):
                guard var file = contents else { continue }
                contents = nil
                if file.count < offset + bytes.count {
                    file += [UInt8](repeating: 0, count: offset + bytes.count - file.count)
                }
                file.replaceSubrange(offset..<offset + bytes.count, with: bytes)
                contents = file
            case .size(let size):
                guard let file = contents else { continue }
                contents = Array(file.prefix(size)) + [UInt8](repeating: 0, count: max(0, size - file.count))
            case .name(let exists): contents = exists ? [] : nil
            }
        }
        return contents
    }

    private static func split(_ bytes: [UInt8], at offset: Int, _ sector: Int) -> [(Int, [UInt8])] {
        var pieces: [(Int, [UInt8])] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, (offset + start) / sector * sector + sector - offset)
            pieces.append((offset + start, Array(bytes[start..<end])))
            start = end
        }
        return pieces
    }
}

/// A keychain's files on a disk whose power can fail.
struct DiskModel {
    private(set) var database: FileModel
    private(set) var log: FileModel
    /// The size of an atomic write in bytes: 512 or 4096.
    let sector: Int

    /// The disk of an open keychain with an empty log.
    init(database: [UInt8], sector: Int) {
        self.database = FileModel(durable: database)
        log = FileModel(durable: [])
        self.sector = sector
    }

    mutating func apply(_ event: FaultDisk.Event) {
        switch event.file {
        case .database: database.apply(event, sector: sector)
        case .log: log.apply(event, sector: sector)
        case .other: break
        }
    }

    var choiceCount: Int { database.choices.count + log.choices.count }

    /// The fate of data that is not durable.
    enum PowerLossMode: Hashable {
        /// Nothing: the process has died, and not the system.
        case none
        /// All of it.
        case all
        /// By the bits of a number, in the order in which it was written: for few pieces.
        case exactly(UInt64)
        /// Random: each piece is independently kept with a probability of `keeping` / 256.
        case some(seed: UInt64, keeping: UInt64)
    }

    func files(after loss: PowerLossMode) -> (database: [UInt8]?, log: [UInt8]?) {
        switch loss {
        case .none: return (database.image { _ in true }, log.image { _ in true })
        case .all: return (database.image { _ in false }, log.image { _ in false })
        case .exactly(let bits):
            let kept = Self.chosen(database.choices, by: bits)
            let keptOfLog = Self.chosen(log.choices, by: bits >> UInt64(database.choices.count))
            return (database.image(kept.contains), log.image(keptOfLog.contains))
        case .some(let seed, let keeping):
            var generator = SeededGenerator(seed: seed)
            let database = database.image { _ in generator.next() & 255 < keeping }
            return (database, log.image { _ in generator.next() & 255 < keeping })
        }
    }

    private static func chosen(_ pieces: [Int], by bits: UInt64) -> Set<Int> {
        Set(pieces.enumerated().filter { bits >> UInt64($0.offset) & 1 == 1 }.map(\.element))
    }
}
