import FileSystemCore
import FileSystemTesting
import SystemPackage

/// The connection between a client and the file system in memory.
enum BackEnd: String, CaseIterable, Sendable {
    /// Nothing: shows what the client itself does.
    case inProcess
    /// The binding, over a socket pair.
    case session
    /// The binding and the kernel.
    case mounted

    /// Runs `body` with a client; afterwards nothing may be left open or looked up.
    func run(
        _ fileSystem: MemoryFileSystem = MemoryFileSystem(), _ body: (any FileClient) throws -> Void
    ) throws {
        switch self {
        case .inProcess:
            try body(PathClient(fileSystem))
        case .session:
            let session = try WireSession(fileSystem)
            defer { session.stop() }
            try body(PathClient(session.wire, maximumWrite: 65_536))
        case .mounted:
            let session = try MountedSession(fileSystem)
            defer { session.stop() }
            try body(session.client)
        }
    }
}
