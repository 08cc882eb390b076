import FileSystemCore
import Keychain

/// The items that the kernel knows and nobody uses: a listing makes very many of them, so one takes 16 bytes.
///
/// Guarded by the lock of the table that it is part of.
struct IdleItems: ~Copyable {
    private struct Entry: BitwiseCopyable, Sendable {
        /// ``RowID``, or none for one whose row is gone.
        var row: Int64
        /// Its place in ``IdleItems/directories``.
        var directory: UInt32
        var lookups: UInt32
    }

    /// By node number.
    private var entries = SparseArray<Entry>()
    private var directories = DirectoryIndex()

    var count: Int { entries.count }

    /// One that was not here before, and how often the kernel has been given it. False if it can't be kept here.
    mutating func add(_ id: NodeID, row: RowID, in directory: ServiceDirectory, lookups: UInt64 = 1) -> Bool {
        guard let lookups = UInt32(exactly: lookups), let number = directories.add(directory) else { return false }
        entries[id.rawValue] = Entry(row: row.rawValue, directory: number, lookups: lookups)
        return true
    }

    /// Counts a lookup in `directory`; false if it is not here, or there is no more room to count.
    ///
    /// Of the objects for one directory the last is the one that is told of a new name: the kernel has forgotten the others.
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

    /// Takes lookups off. Returns its row when none is left; nil if it stays, or is not here.
    mutating func forget(_ id: NodeID, count: UInt64) -> RowID? {
        guard let entry = entries[id.rawValue] else { return nil }
        guard entry.lookups <= count else {
            _ = entries.update(id.rawValue) { $0.lookups -= UInt32(truncatingIfNeeded: count) }
            return nil
        }
        return take(id)?.row
    }

    /// Its row is gone.
    mutating func detach(_ id: NodeID) {
        _ = entries.update(id.rawValue) { $0.row = RowID.none.rawValue }
    }

    /// Takes it out; nil if it is not here.
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

/// Short numbers for directories that are referred to very often.
private struct DirectoryIndex {
    private struct Slot {
        var directory: ServiceDirectory?
        var count = 0
    }

    private var slots: [Slot] = []
    private var numbers: [ObjectIdentifier: UInt32] = [:]
    private var free: [UInt32] = []

    /// Counts a reference. Nil if there are too many directories.
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

    /// Takes a reference back; the number is free after the last one.
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
