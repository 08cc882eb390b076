import FileSystemCore
import Synchronization
import SystemPackage

/// A process that uses a ``FileSystem`` through the parts of a kernel: it walks paths, counts lookups and has
/// descriptors.
///
/// Caches nothing: every component is looked up, and forgotten at the end of the call. Checks no permission. The
/// notifications of a request are passed to the handler before the call returns.
public final class PathClient: FileClient {
    public typealias NotificationHandler = @Sendable ([FileSystemCore.Notification]) -> Void

    let fileSystem: any FileSystem
    let notified: NotificationHandler
    public let caller: Caller
    /// Identifies the process that has this table of descriptors.
    public let owner: LockOwner
    /// Masks the modes of new files.
    public let umask: UInt32
    /// In bytes: longer writes are split.
    let maximumWrite: Int
    private let descriptors: Mutex<[Int: OpenFile]>
    private static let nextOwner = Atomic<UInt64>(1)

    public convenience init(
        _ fileSystem: any FileSystem, caller: Caller = Caller(userID: 0, groupID: 0, processID: 1),
        umask: UInt32 = 0o022, maximumWrite: Int = 1 << 20,
        onNotifications notified: @escaping NotificationHandler = { _ in }
    ) {
        self.init(fileSystem, caller, umask, maximumWrite, notified, [:])
    }

    private init(
        _ fileSystem: any FileSystem, _ caller: Caller, _ umask: UInt32, _ maximumWrite: Int,
        _ notified: @escaping NotificationHandler, _ descriptors: [Int: OpenFile]
    ) {
        self.fileSystem = fileSystem
        self.caller = caller
        self.umask = umask
        self.maximumWrite = maximumWrite
        self.notified = notified
        self.descriptors = Mutex(descriptors)
        owner = LockOwner(rawValue: Self.nextOwner.add(1, ordering: .relaxed).newValue)
    }

    /// Another process with the same descriptors, as fork(2) makes it.
    public func fork(processID: Int32? = nil) -> PathClient {
        let inherited = descriptors.withLock { $0 }
        for file in inherited.values { file.retain() }
        var caller = caller
        if let processID { caller.processID = processID }
        return PathClient(fileSystem, caller, umask, maximumWrite, notified, inherited)
    }

    /// Closes all descriptors, as a process that exits does; errors are ignored.
    public func exit() {
        for descriptor in descriptors.withLock({ $0.keys.sorted() }) { try? close(descriptor) }
    }

    // MARK: Requests

    func run<Result>(_ body: (inout Request) throws(Errno) -> Result) throws(Errno) -> Result {
        var request = Request(caller: caller)
        let result = Swift.Result { () throws(Errno) in try body(&request) }
        if !request.notificationsBeforeReply.isEmpty { notified(request.notificationsBeforeReply) }
        return try result.get()
    }

    // MARK: Descriptors

    func file(_ descriptor: Int) throws(Errno) -> OpenFile {
        guard let file = descriptors.withLock({ $0[descriptor] }) else { throw .badFileDescriptor }
        return file
    }

    func install(_ file: OpenFile) -> Int {
        descriptors.withLock { descriptors in
            let free = (0...).first { descriptors[$0] == nil } ?? 0
            descriptors[free] = file
            return free
        }
    }

    public func duplicate(_ descriptor: Int) throws(Errno) -> Int {
        let file = try file(descriptor)
        file.retain()
        return install(file)
    }

    public func close(_ descriptor: Int) throws(Errno) {
        guard let file = descriptors.withLock({ $0.removeValue(forKey: descriptor) }) else { throw .badFileDescriptor }
        let flushed = Result { () throws(Errno) in
            guard !file.file.noFlush else { return }
            try run { request throws(Errno) in
                try fileSystem.flush(&request, node: file.node, handle: file.file.handle, owner: owner)
            }
        }
        if file.drop() {
            try run { request throws(Errno) in
                if file.isDirectory {
                    fileSystem.releasedir(&request, node: file.node, handle: file.file.handle)
                } else {
                    fileSystem.release(&request, node: file.node, handle: file.file.handle)
                }
            }
            fileSystem.forget(file.node, count: 1)
        }
        try flushed.get()
    }
}
