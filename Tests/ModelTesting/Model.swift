import FileSystemCore
import SystemPackage

/// What the contract promises, as plain values: no store, no key, no lock, no cache.
///
/// It says of each step what comes of it. `F1`, `L2` and so on are the contract's lines.
public struct Model: Sendable {
    typealias FileID = Int
    typealias DirectoryID = Int
    /// Stands for a number that only the file system knows (an inode, a reference): the same symbol, the same number.
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
    /// The disk has no room, and says so.
    var isFull = false
    /// No commit finds room, whatever the disk has said before.
    var isFailing = false
    /// Class directories that something was ever made in, and groups: they have rows of their own.
    var containers: Set<String> = []
    /// In seconds.
    private(set) var now = 0.0
    private var lastSymbol = 0

    public init(valueLimit: Int) { self.valueLimit = valueLimit }

    /// For how many seconds a freed name can be taken again (F5).
    public static let freedLifetime = 10.0

    /// When the names were freed that can still be taken again.
    public var freedTimes: [Double] { freed.map(\.time) }

    /// Time goes on.
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

    /// What descriptors refer to.
    struct Open {
        let file: FileID
        let flags: OpenFlags
        /// How many slots, of all processes.
        var references = 1
        /// F3: what a descriptor for reading shows.
        var snapshot: Snapshot?
        /// ``File/discards`` at the open.
        let discards: Int

        /// For writing or truncating, however it is used: it takes part in F1.
        var isWriter: Bool { snapshot == nil }
    }

    /// One value for ever, sealed under the classes that it had then.
    struct Snapshot {
        let bytes: [UInt8]
        let classes: [ItemClass]
        /// L2: a lock has closed it, and no unlock opens it again.
        var isClosed = false
    }

    /// A name that was freed, and what it stood for (F5).
    struct Freed {
        let directory: DirectoryID
        let name: String
        let process: Symbol
        let time: Double
        let item: Item
        /// Where it lives on.
        let movedTo: Symbol?
    }

    /// The part of a file that a rename over it does not take with it (F5).
    struct Item {
        /// It keeps its row for as long as it has a name.
        var row: Symbol
        var reference: Symbol
        var created: Symbol
        var itemClass: ItemClass
        /// By whole name, those of the class and others.
        var attributes: [String: String] = [:]
    }

    /// What a file brings with it when it is renamed over an item.
    struct FileAttributes {
        var inode: Symbol
        var permissions: UInt32
        var modified: Time
    }

    /// F10: a name in the making has become the file of an item that has come to it.
    struct AdoptedFile {
        /// What was set on it before.
        let draft: Item
        let directory: DirectoryID
        /// The item's own, which are its again if nothing is committed.
        var facts: FileAttributes
    }

    struct File {
        var inode: Symbol
        /// Nil once it has been unlinked, replaced or dropped.
        var place: (directory: DirectoryID, name: String)?
        var item: Item
        var permissions: UInt32
        var modified: Time
        var value: [UInt8] = []
        /// F2: nothing of it is committed.
        var isPending: Bool
        var staged: Staged?
        /// What a pending name stood for before.
        var former: Freed?
        var adopted: AdoptedFile?
        /// An item that has come to the name of a pending file while it could not be read.
        var contested: FileID?
        var readers = 0
        var writers = 0
        /// L2: how often a lock has taken away what was staged.
        var discards = 0
        /// How often something was taken back that everyone had seen: the times may have gone back with it.
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
        /// Somebody has changed it who has no descriptor.
        var hasUnknownWriter = false
        /// A commit has failed: every close tries again.
        var hasFailed = false

        /// Whether somebody stands by it.
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

/// What a step has to come to.
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
    /// Within which ctime does not go back; nil: not looked at.
    let history: [Int]?
}
