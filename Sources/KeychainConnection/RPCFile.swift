import LinuxSupport
import SecretCrypto
import SystemPackage

/// The `rpc` file of the keychain that is mounted when a request begins.
struct RPCFile: ~Copyable {
    /// The number of attempts to allocate locked memory, here or in the daemon. Each waits for a second.
    static let attempts = 5

    private let mountPoint: () -> String
    /// Called with each mount in which the file is opened, before any byte is sent to it.
    private let onOpen: (MountIdentity?) -> Void
    private var file: OpenControlFile?
    /// Whether a part of a request has been written.
    private var hasBegun = false

    init(mountPoint: @escaping () -> String, onOpen: @escaping (MountIdentity?) -> Void) {
        self.mountPoint = mountPoint
        self.onOpen = onOpen
    }

    /// Writes a part of a request. The daemon carries out the request when its response is read.
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

    /// Returns the next chunk of the response, at most `limit` bytes.
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

    /// Closes a descriptor that cannot be used any more.
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
    /// - Throws: EPERM if the environment names an unknown user.
    private static func owner() throws(Errno) -> MountOwner {
        do throws(MountOwner.OwnerError) { return try .ofEnvironment() } catch { throw .notPermitted }
    }
}

extension Errno {
    /// Whether the mount of the descriptor no longer exists, so that there may be a new one.
    var meansAnotherMount: Bool {
        [.socketNotConnected, .connectionAbort, .operationNotSupportedByDevice, .staleNFSFileHandle].contains(self)
    }
}
