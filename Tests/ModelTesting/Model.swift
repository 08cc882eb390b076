import FileSystemCore
import SystemPackage

/// The contract as plain values: no store, no key, no lock, no cache.
///
/// Predicts the outcome of each step. `F1`, `L2` and so on are the contract's lines.
public struct Model: Sendable {
    typealias FileID = Int
    typealias DirectoryID = Int
    /// Represents a number that only the file system knows (an inode, a reference): equal symbols mean equal numbers.
    typealias Symbol = Int

    /// F9: the longest value.
    let valueLimit: Int
    /// By path below the root.
    var directories: [String: DirectoryID] = [:]
    var directoryFacts: [DirectoryID: Directory] = [:]
    var names: [DirectoryID: [String: FileID]] = [:]
    var files: [FileID: File] = [:]
    var processes: [Int: Process] = [:]
    var opens: [Int: Open] = [:]
    var freed: [Freed] = []
    var state = LockState.unlocked
    /// The disk is full and reports it.
    var isFull = false
    /// Every commit finds the disk full, although the disk has not reported it.
    var isFailing = false
    /// Groups, and class directories in which an entry was ever created: they have rows.
    var containers: Set<String> = []
    /// In seconds.
    private(set) var now = 0.0
    private var lastSymbol = 0

    public init(valueLimit: Int) { self.valueLimit = valueLimit }

    /// For how many seconds a freed name can be taken again (F5).
    public static let freedLifetime = 10.0

    /// The times when the names were freed that can still be taken again.
    public var freedTimes: [Double] { freed.map(\.time) }

    /// Advances the clock.
    public mutating func advance(to time: Double) {
        now = time
        freed.removeAll { $0.time + Self.freedLifetime < time }
    }

    mutating func symbol() -> Symbol {
        lastSymbol += 1
        return lastSymbol
    }

    struct Directory {
        var inode: Symbol
        /// X5: the class of new items in it.
        var defaultClass = ItemClass.whenUnlocked
    }

    struct Process {
        var identity: Symbol
        var slots: [Int: Int] = [:]
    }

    /// An open file, to which descriptors refer.
    struct Open {
        let file: FileID
        let flags: OpenFlags
        /// The number of slots that refer to it, in all processes.
        var references = 1
        /// F3: what a descriptor for reading shows.
        var snapshot: Snapshot?
        /// ``File/discards`` at the open.
        let discards: Int

        /// Whether it was opened for writing or truncating, even if it is never written: it takes part in F1.
        var isWriter: Bool { snapshot == nil }
    }

    /// An immutable value, sealed under the classes that it had then.
    struct Snapshot {
        let bytes: [UInt8]
        let classes: [ItemClass]
        /// L2: a lock has closed it, and no unlock opens it again.
        var isClosed = false
    }

    /// A freed name and the item to which it referred (F5).
    struct Freed {
        let directory: DirectoryID
        let name: String
        let process: Symbol
        let time: Double
        let item: Item
        /// The row of the item's new name, if it has one.
        let movedTo: Symbol?
    }

    /// The part of a file that a rename over it does not take with it (F5).
    struct Item {
        /// The row, which stays the same while the item has a name.
        var row: Symbol
        var reference: Symbol
        var created: Symbol
        var itemClass: ItemClass
        /// By whole name, those of the class and others.
        var attributes: [String: String] = [:]
    }

    /// The attributes that a file keeps when it is renamed over an item.
    struct FileAttributes {
        var inode: Symbol
        var permissions: UInt32
        var modified: Time
    }

    /// F10: a pending file has become the file of an item that the API has moved to its name.
    struct AdoptedFile {
        /// The attributes that were set on it before.
        let draft: Item
        let directory: DirectoryID
        /// The item's own, which are its again if nothing is committed.
        var facts: FileAttributes
    }

    struct File {
        var inode: Symbol
        /// The directory and name, or nil after it was unlinked, replaced or discarded.
        var place: (directory: DirectoryID, name: String)?
        var item: Item
        var permissions: UInt32
        var modified: Time
        var value: [UInt8] = []
        /// F2: no value is committed.
        var isPending: Bool
        var staged: Staged?
        /// The item to which a pending name referred before.
        var former: Freed?
        var adopted: AdoptedFile?
        /// An unreadable item that the API has moved to the name of a pending file.
        var contested: FileID?
        var readers = 0
        var writers = 0
        /// L2: the number of locks that have discarded a staged value.
        var discards = 0
        /// The number of undone changes that other processes had seen: each may have set times back.
        var epoch = 0

        var isOpen: Bool { readers + writers > 0 }

        var facts: FileAttributes {
            get { FileAttributes(inode: inode, permissions: permissions, modified: modified) }
            set { (inode, permissions, modified) = (newValue.inode, newValue.permissions, newValue.modified) }
        }
    }

    enum Time: Equatable {
        case at(Int64)
        case recently
    }

    /// F1.
    struct Staged {
        var bytes: [UInt8]
        var modified = Time.recently
        var isUncommitted = false
        var isAbandoned = false
        /// The processes that have written since the last commit.
        var writers: Set<Symbol> = []
        var refusal: Errno?
        /// Whether a process without a descriptor has changed it.
        var hasUnknownWriter = false
        /// A commit has failed: every close tries again.
        var hasFailed = false

        /// Whether a writer will commit it.
        var isWritten: Bool { isUncommitted && !isAbandoned && (!writers.isEmpty || hasUnknownWriter || hasFailed) }
    }
}

/// Section 4.
enum LockState {
    case beforeFirstUnlock, unlocked, locked
}

/// kSecAttrAccessible, as far as the model goes.
enum ItemClass: String, CaseIterable {
    case whenUnlocked = "WhenUnlocked"
    case afterFirstUnlock = "AfterFirstUnlock"
    case always = "Always"
    case unlessOpen = "WhenUnlockedUnlessOpen"

    /// Whether items can be opened while locked (after the first unlock).
    var opensWhileLocked: Bool { self == .afterFirstUnlock || self == .always }
    var canBeAddedWhileLocked: Bool { self != .whenUnlocked }
}

/// The expected outcome of a step.
public enum Expectation: Sendable {
    case exactly(Outcome)
    case status(ExpectedStatus)
    case attributes(listed: [String: String], reference: Int, created: Int)
}

public struct ExpectedStatus: Sendable {
    let size: Int
    let permissions: UInt32?
    let links: Int
    let inode: Model.Symbol
    let modified: Model.Time?
    /// The file's number and epoch, within which ctime must not decrease; nil if ctime is not checked.
    let history: [Int]?
}
