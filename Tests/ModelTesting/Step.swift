import FileSystemCore
import Foundation

/// The path of an item: a service directory below the root, and a name in it.
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

/// Bytes that identify their origin: each one is its predecessor plus one.
public struct BytePattern: Hashable, Codable, Sendable {
    public var first: UInt8
    public var count: Int

    public init(_ first: UInt8, _ count: Int) {
        self.first = first
        self.count = count
    }

    public var bytes: [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: Int(first) + $0) } }
}

/// A step of a program: an operation of one process, or an event that affects all of them.
public struct Step: Hashable, Codable, Sendable {
    public var process: Int
    public var action: Action

    public init(_ process: Int, _ action: Action) {
        self.process = process
        self.action = action
    }
}

/// The operation. Slots are a process's own numbers of descriptors. A step whose slot is not in the required state
/// (EBADF, or EBUSY for one in use) has no effect. Every program therefore remains valid when steps are removed from
/// it.
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
    /// Exits by a signal.
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

    /// All listed attributes, and those that identify the item.
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
    /// All processes exit and the keychain is unmounted; the next mount has the committed state.
    case remount
    /// All processes exit and the keychain is unmounted; the next mount is not unlocked.
    case remountLocked
    /// Makes the disk full or not.
    case fillDisk(Bool)
    /// Makes every write of the store fail or not; an unlock and a new file use a working disk.
    case failDisk(Bool)
    /// The daemon ends without a chance to do anything. All processes are new ones afterwards.
    case kill
    /// For longer than a freed name is remembered.
    case wait
}

/// The outcome of a step.
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
