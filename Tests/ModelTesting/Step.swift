import FileSystemCore
import Foundation

/// Where an item lies: a service directory below the root, and a name in it.
public struct Place: Hashable, Codable, Sendable, CustomStringConvertible {
    public var directory: String
    public var name: String

    public init(_ directory: String, _ name: String) {
        self.directory = directory
        self.name = name
    }

    public var path: String { "/\(directory)/\(name)" }
    public var description: String { path }
}

/// Bytes that tell where they come from: each value is one more than that before it.
public struct BytePattern: Hashable, Codable, Sendable {
    public var first: UInt8
    public var count: Int

    public init(_ first: UInt8, _ count: Int) {
        self.first = first
        self.count = count
    }

    public var bytes: [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: Int(first) + $0) } }
}

/// A step of a program: what a process does, or what happens to all of them.
public struct Step: Hashable, Codable, Sendable {
    public var process: Int
    public var action: Action

    public init(_ process: Int, _ action: Action) {
        self.process = process
        self.action = action
    }
}

/// Slots are a process's own numbers of descriptors. A step whose slot is not as it needs it (EBADF, or EBUSY for one that
/// is in use) has no effect, so that every program has a meaning, whatever is taken out of it.
public enum Action: Hashable, Codable, Sendable {
    case open(Place, flags: Int32, slot: Int)
    case close(slot: Int)
    case duplicate(slot: Int, to: Int)
    case read(slot: Int, offset: Int, count: Int)
    case write(slot: Int, offset: Int, BytePattern)
    case resize(slot: Int, size: Int)
    case sync(slot: Int)
    case status(slot: Int)
    /// A child that inherits all descriptors, writes through one of them if it is to, and ends.
    case spawn(slot: Int?, BytePattern)
    /// The process ends; another one has its number from then on.
    case exit
    /// The same, by a signal.
    case die

    case contents(Place)
    case truncate(Place, size: Int)
    case stat(Place)
    case chmod(Place, UInt32)
    /// mtime, in seconds.
    case setTime(Place, Int64)
    case make(Place)
    case unlink(Place)
    case rename(Place, Place, flags: UInt32)

    /// All that is listed, and what identifies the item.
    case attributes(Place)
    case setAttribute(Place, String, String, flags: Int32)
    case removeAttribute(Place, String)

    case makeDirectory(String)
    case makeGroup(String)
    case removeDirectory(String)
    case renameDirectory(String, String, flags: UInt32)
    case list(String)
    case statDirectory(String)
    case setDefault(String, String)
    case ask(ServiceCall)

    case lock
    case unlock
    /// Every process ends, and the mount; the next one finds what was committed.
    case remount
    /// The same, and it is not unlocked.
    case remountLocked
    /// Whether the disk has no room from now on.
    case fillDisk(Bool)
    /// Whether every write of the store's fails from now on; unlocking and what begins anew finds a disk that works.
    case failDisk(Bool)
    /// The daemon ends without a chance to do anything. All processes are new ones afterwards.
    case kill
    /// For longer than a freed name is remembered.
    case wait
}

/// What a step came to.
public enum Outcome: Hashable, Codable, Sendable {
    case done
    case failed(Int32)
    case bytes(Data)
    case status(Status)
    /// Sorted; with the error that ended the listing.
    case names([String], error: Int32?)
    case attributes(ItemAttributes)
}

public struct Status: Hashable, Codable, Sendable {
    public var size: Int
    public var permissions: UInt32
    public var links: Int
    public var inode: UInt64
    /// In seconds.
    public var modified: Int64
    /// In nanoseconds.
    public var changed: Int64
}

public struct ItemAttributes: Hashable, Codable, Sendable {
    public var listed: [String: Data]
    public var reference: Data
    public var created: Data
}
