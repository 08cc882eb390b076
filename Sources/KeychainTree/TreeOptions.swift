package import FileSystemCore
package import Keychain
package import SystemPackage

/// What a tree is told when it is made.
package struct TreeOptions: Sendable {
    /// Who owns the directories that nobody has made: the mounting user.
    package var userID: UInt32
    package var groupID: UInt32
    package var isReadOnly = false
    /// Other users come in (`allow_other`): they may pass the directories that nobody has made.
    package var isShared = false
    /// F9: the longest value, in bytes.
    package var valueLimit = Self.defaultValueLimit
    package static let defaultValueLimit = 1 << 20
    /// The most memory that staged values, long values of open descriptors, requests and answers take together, in bytes.
    package var stagedLimit = Self.defaultStagedLimit
    package static let defaultStagedLimit = 64 << 20
    /// The limit on the time of a write to a control file; nil: it returns when its command has ended.
    package var commandLimit: CommandLimit?
    /// For how many seconds the kernel may answer by itself.
    package var cacheTimeout: Double = 86_400

    package init(userID: UInt32, groupID: UInt32) {
        self.userID = userID
        self.groupID = groupID
    }
}

/// What a tree asks of the system it runs on.
package protocol TreeHost: Sendable {
    /// Whether that thread is being ended by a signal (F1).
    func isDyingOfSignal(_ processID: Int32) -> Bool
    /// The process of that thread (F5); nil if it is not known.
    func process(ofThread threadID: Int32) -> ProcessIdentity?
    /// The time since some fixed moment, suspend included: never goes back.
    var uptime: Duration { get }
    /// The store's file system: room for commits, and what statfs(2) shows.
    func statistics() throws(Errno) -> FileSystemStatistics
    /// Returns freed memory to the system, soon and on another thread: it takes milliseconds. Called after much has been freed.
    func trimMemory()
}

/// A process, told from others that get its number later.
package struct ProcessIdentity: Hashable, Sendable {
    /// The number of its thread group.
    package var group: Int32
    /// When it was started, in any unit.
    package var startTime: UInt64

    package init(group: Int32, startTime: UInt64) {
        self.group = group
        self.startTime = startTime
    }
}

/// What the control files do (contract, section 9).
package protocol ControlCommandHandler: Sendable {
    /// The contents of `.keychainfs/status`.
    func status(of tree: KeychainFileSystem) -> [UInt8]
    /// Runs one command line; what it answers is read from the same descriptor.
    ///
    /// `command` may end in a newline; what follows the first one is the command's secret input.
    func run(_ command: RawSpan, on tree: KeychainFileSystem, request: inout Request) throws(KeychainFault) -> [UInt8]
}

/// SystemPackage has a `FileType` too.
package typealias FileType = FileSystemCore.FileType
