import LinuxSupport
import SecretCrypto
import SystemPackage

/// The `rpc` file of whatever is mounted when a request begins.
struct RPCFile: ~Copyable {
    /// How often locked memory is asked for again, here or in the daemon, which each time waits for a second.
    static let attempts = 5

    private let mountPoint: () -> String
    /// Told of each mount that the file is opened in, before anything is sent there.
    private let onOpen: (MountIdentity?) -> Void
    private var file: OpenControlFile?
    /// A part of a request was written.
    private var hasBegun = false

    init(mountPoint: @escaping () -> String, onOpen: @escaping (MountIdentity?) -> Void) {
        self.mountPoint = mountPoint
        self.onOpen = onOpen
    }

    /// Writes a part of a request: nothing is carried out before the answer is read.
    mutating func send(_ part: borrowing SecretBytes) throws(Errno) {
        let isReused = file != nil && !hasBegun
        do throws(Errno) {
            try write(part)
        } catch  where isReused && error.meansAnotherMount {
            file = nil
            try write(part)
        }
        hasBegun = true
    }

    /// The next piece of the answer, at most `limit` bytes.
    mutating func read(limit: Int) throws(Errno) -> SecretBytes {
        hasBegun = false
        for _ in 0..<Self.attempts {
            do throws(Errno) { return try piece(limit: limit) } catch  where error == .noMemory { continue }
        }
        return try piece(limit: limit)
    }

    private func piece(limit: Int) throws(Errno) -> SecretBytes {
        switch file {
        case .some(let file): return try file.read(limit: limit)
        case nil: throw .badFileDescriptor
        }
    }

    /// The descriptor is of no use any more.
    mutating func close() {
        file = nil
        hasBegun = false
    }

    private mutating func write(_ part: borrowing SecretBytes) throws(Errno) {
        if file == nil {
            let new = try OpenControlFile("rpc", at: mountPoint(), .readWrite, of: try Self.owner())
            onOpen(new.mount)
            file = consume new
        }
        switch file {
        case .some(let file): try file.write(part)
        case nil: throw .badFileDescriptor
        }
    }
}

extension RPCFile {
    /// EPERM if the environment names a user who does not exist.
    private static func owner() throws(Errno) -> MountOwner {
        do throws(MountOwner.OwnerError) { return try .ofEnvironment() } catch { throw .notPermitted }
    }
}

extension Errno {
    /// The mount that the descriptor was opened in is gone; there may be another one.
    var meansAnotherMount: Bool {
        [.socketNotConnected, .connectionAbort, .operationNotSupportedByDevice, .staleNFSFileHandle].contains(self)
    }
}
