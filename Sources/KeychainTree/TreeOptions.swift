package import FileSystemCore
package import Keychain
package import SystemPackage

/// The options of a tree.
package struct TreeOptions: Sendable {
    /// The owner of the directories that exist in every mount: the mounting user.
    package var userID: UInt32
    package var groupID: UInt32
    package var isReadOnly = false
    /// Whether other users have access (`allow_other`): they may search the directories that exist in every mount.
    package var isShared = false
    /// The maximum size of a value in bytes (F9).
    package var valueLimit = Self.defaultValueLimit
    package static let defaultValueLimit = 1 << 20
    /// The maximum memory of staged values, long values of open descriptors, requests and responses together, in bytes.
    package var stagedLimit = Self.defaultStagedLimit
    package static let defaultStagedLimit = 64 << 20
    /// The limit on the duration of a write to a control file; nil if it returns when its command has ended.
    package var commandLimit: CommandLimit?
    /// The time for which the kernel may cache names and attributes, in seconds.
    package var cacheTimeout: Double = 86_400

    package init(userID: UInt32, groupID: UInt32) {
        self.userID = userID
        self.groupID = groupID
    }
}

/// The system functions that a tree needs.
package protocol TreeHost: Sendable {
    /// Whether a signal is terminating that thread (F1).
    func isDyingOfSignal(_ processID: Int32) -> Bool
    /// Returns the process of a thread (F5); nil if it is unknown.
    func process(ofThread threadID: Int32) -> ProcessIdentity?
    /// The time since a fixed point in time, including suspends. Never decreases.
    var uptime: Duration { get }
    /// Returns the statistics of the store's file system: the space for commits, and the result of statfs(2).
    func statistics() throws(Errno) -> FileSystemStatistics
    /// Returns freed memory to the system, soon and on another thread, because it takes milliseconds. Called after much
    /// memory has been freed.
    func trimMemory()
}

/// A process, distinguished from later ones with the same ID.
package struct ProcessIdentity: Hashable, Sendable {
    /// The ID of its thread group.
    package var group: Int32
    /// Its start time, in any unit.
    package var startTime: UInt64

    package init(group: Int32, startTime: UInt64) {
        self.group = group
        self.startTime = startTime
    }
}

/// The implementation of the control files (contract, section 9).
package protocol ControlCommandHandler: Sendable {
    /// The contents of `.keychainfs/status`.
    func status(of tree: KeychainFileSystem) -> [UInt8]
    /// Runs a command. Its result is read from the same descriptor.
    ///
    /// `command` may end in a newline; the bytes after the first newline are the command's secret input.
    func run(_ command: RawSpan, on tree: KeychainFileSystem, request: inout Request) throws(KeychainFault) -> [UInt8]
}

/// SystemPackage has a `FileType`, too.
package typealias FileType = FileSystemCore.FileType
