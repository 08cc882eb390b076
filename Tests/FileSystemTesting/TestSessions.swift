import FileSystemCore
import Fuse
import Glibc
import Synchronization
import SystemPackage

/// A session over a socket pair, with its client.
public final class WireSession: Sendable {
    public let session: Session
    public let wire: WireFileSystem
    private let thread: TestThread

    public init(
        _ fileSystem: any FileSystem, minor: UInt32 = 45, workers: Int = 4, servesAtOnce: Bool = false
    ) throws {
        let ends = try WireConnection.pair()
        var options = SessionOptions(source: "test", subtype: "test")
        options.workers = workers
        options.receiverServesIO = servesAtOnce
        let session = try Session(fileSystem, options: options)
        try session.attach(to: ends.session)
        thread = TestThread.started { _ = try? session.run() }
        wire = try WireFileSystem(descriptor: ends.client, minor: minor)
        self.session = session
    }

    /// Closes the connection; whether the session ended of itself.
    @discardableResult
    public func stop() -> Bool {
        wire.connection.close()
        return thread.join()
    }

    /// Waits for the end of the session, for any reason.
    public func waitForEnd() -> Bool { thread.join() }
}

/// A session on a real mount in a separate directory.
public final class MountedSession: Sendable {
    public let session: Session
    public let client: MountedClient
    /// `fuse.` and the subtype.
    public static let type = "fuse.keychainfs-test"
    private let directory: TemporaryDirectory
    private let thread: TestThread
    private let result = MutexBox<SessionEnd?>(nil)

    public init(_ fileSystem: any FileSystem, configure: (inout SessionOptions) -> Void = { _ in }) throws {
        directory = try TemporaryDirectory()
        var options = SessionOptions(source: "test", subtype: "keychainfs-test")
        configure(&options)
        let session = try Session(fileSystem, options: options)
        try session.mount(at: directory.path)
        thread = TestThread.started { [result] in
            let end = try? session.run()
            result.withLock { $0 = end }
        }
        self.session = session
        client = MountedClient(root: directory.path)
    }

    public var path: String { directory.path }

    /// The result of the session's `run`; nil before.
    public var end: SessionEnd? { result.withLock { $0 } }

    /// Waits for the end of the session, for any reason.
    public func waitForEnd() -> Bool { thread.join() }

    /// Unmounts, lazily if files are open; whether the session ended of itself.
    @discardableResult
    public func stop() -> Bool {
        do {
            try session.unmount()
        } catch FuseError.busy {
            try? session.unmount(lazily: true)
            session.exit()
        } catch {
            session.exit()
        }
        return thread.join()
    }
}

/// Repeats `unmount` while the mount is busy, for ten seconds at most.
///
/// A child process that another test starts has copies of all descriptors until its exec, so a mount can be busy after the last
/// descriptor in this process was closed.
public func unmountWhenIdle<Result>(_ unmount: () throws -> Result) throws -> Result {
    var result: Result?
    _ = try eventually {
        do { result = try unmount() } catch FuseError.busy { return false }
        return true
    }
    return try result ?? unmount()
}
