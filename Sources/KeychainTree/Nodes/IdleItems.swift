import FileSystemCore
import Keychain

/// The items that the kernel knows and that are not in use. A listing creates very many, so each takes only 16 bytes.
///
/// Protected by the lock of the table that contains it.
struct IdleItems: ~Copyable {
    private struct Entry: BitwiseCopyable, Sendable {
        /// The ``RowID``; ``RowID/none`` after its row has been deleted.
        var row: Int64
        /// The index in ``IdleItems/directories``.
        var directory: UInt32
        var lookups: UInt32
    }

    /// The entries by node ID.
    private var entries = SparseArray<Entry>()
    private var directories = DirectoryIndex()

    var count: Int { entries.count }

    /// Adds an item with its lookup count. Returns false if it cannot be stored here.
    mutating func add(_ id: NodeID, row: RowID, in directory: ServiceDirectory, lookups: UInt64 = 1) -> Bool {
        guard let lookups = UInt32(exactly: lookups), let number = directories.add(directory) else { return false }
        entries[id.rawValue] = Entry(row: row.rawValue, directory: number, lookups: lookups)
        return true
    }

    /// Increments the lookup count of an item in `directory`. Returns false if it is not here, or the count would
    /// overflow.
    ///
    /// If there are several objects for one directory, the last one receives new names: the kernel has forgotten the
    /// others.
    mutating func remember(_ id: NodeID, in directory: ServiceDirectory) -> Bool {
        guard var entry = entries[id.rawValue], entry.lookups < .max else { return false }
        entry.lookups += 1
        if let known = directories[entry.directory], known !== directory, known.row == directory.row,
            let number = directories.add(directory)
        {
            _ = directories.remove(entry.directory)
            entry.directory = number
        }
        entries[id.rawValue] = entry
        return true
    }

    /// Decrements the lookup count. Returns the row if it becomes zero; nil otherwise, or if the item is not here.
    mutating func forget(_ id: NodeID, count: UInt64) -> RowID? {
        guard let entry = entries[id.rawValue] else { return nil }
        guard entry.lookups <= count else {
            _ = entries.update(id.rawValue) { $0.lookups -= UInt32(truncatingIfNeeded: count) }
            return nil
        }
        return take(id)?.row
    }

    /// Records that the item's row has been deleted.
    mutating func detach(_ id: NodeID) {
        _ = entries.update(id.rawValue) { $0.row = RowID.none.rawValue }
    }

    /// Removes and returns an item; nil if it is not here.
    mutating func take(_ id: NodeID) -> (row: RowID, directory: ServiceDirectory, lookups: UInt64)? {
        guard let entry = entries.remove(at: id.rawValue), let directory = directories.remove(entry.directory) else {
            return nil
        }
        return (RowID(rawValue: entry.row), directory, UInt64(entry.lookups))
    }

    func forEach(_ body: (NodeID) -> Void) {
        entries.forEach { id, _ in body(NodeID(rawValue: id)) }
    }
}

/// Short indices of directories that are referred to very often.
private struct DirectoryIndex {
    private struct Slot {
        var directory: ServiceDirectory?
        var count = 0
    }

    private var slots: [Slot] = []
    private var numbers: [ObjectIdentifier: UInt32] = [:]
    private var free: [UInt32] = []

    /// Adds a reference. Returns the index; nil if there are too many directories.
    mutating func add(_ directory: ServiceDirectory) -> UInt32? {
        if let number = numbers[ObjectIdentifier(directory)] {
            slots[Int(number)].count += 1
            return number
        }
        guard let number = free.popLast() ?? UInt32(exactly: slots.count) else { return nil }
        if Int(number) == slots.count { slots.append(Slot()) }
        slots[Int(number)] = Slot(directory: directory, count: 1)
        numbers[ObjectIdentifier(directory)] = number
        return number
    }

    subscript(number: UInt32) -> ServiceDirectory? {
        slots.indices.contains(Int(number)) ? slots[Int(number)].directory : nil
    }

    /// Removes a reference. The index is free after the last one.
    mutating func remove(_ number: UInt32) -> ServiceDirectory? {
        guard slots.indices.contains(Int(number)), let directory = slots[Int(number)].directory else { return nil }
        slots[Int(number)].count -= 1
        guard slots[Int(number)].count == 0 else { return directory }
        slots[Int(number)].directory = nil
        numbers[ObjectIdentifier(directory)] = nil
        numbers.shrink()
        free.append(number)
        return directory
    }
}
