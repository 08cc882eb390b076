import SecretCrypto
import SystemPackage
import SystemServices

/// A control file of a mount (contract, section 9), as a client uses it. Its calls wait for the daemon, so they belong on a
/// thread that nobody waits for without a bound.
struct ControlFile: ~Copyable {
    private let descriptor: FileDescriptor

    /// ENOTSUP for a file that lies in no FUSE file system: what only looks like a mount gets no secret.
    init(_ name: String, at mountPoint: String, _ mode: FileDescriptor.AccessMode) throws(Errno) {
        descriptor = try Self.open(FilePath(mountPoint).appending(".keychainfs").appending(name), mode)
    }

    private static func open(_ path: FilePath, _ mode: FileDescriptor.AccessMode) throws(Errno) -> FileDescriptor {
        let descriptor = try Errno.catching {
            try FileDescriptor.open(path, mode, options: [.closeOnExec, .noFollow])
        }
        do throws(Errno) {
            guard try FileSystemType.isFuse(descriptor) else { throw .notSupported }
            return descriptor
        } catch {
            try? descriptor.close()
            throw error
        }
    }

    deinit {
        try? descriptor.close()
    }

    /// Of the mount that it was opened in.
    var mount: MountIdentity? { MountIdentity(of: descriptor) }

    func write(_ bytes: borrowing SecretBytes) throws(Errno) {
        do throws(CryptoError) {
            try bytes.write(to: descriptor.rawValue)
        } catch {
            throw error.errno
        }
    }

    /// What one read gives; empty at the end.
    func read(limit: Int) throws(Errno) -> SecretBytes {
        do throws(CryptoError) {
            return try SecretBytes.piece(from: descriptor.rawValue, limit: limit)
        } catch {
            throw error.errno
        }
    }
}

extension Errno {
    fileprivate static func catching<Result>(_ body: () throws -> Result) throws(Errno) -> Result {
        do {
            return try body()
        } catch {
            throw (error as? Errno) ?? .ioError
        }
    }
}

extension CryptoError {
    /// ENOMEM where there is no locked memory.
    var errno: Errno {
        switch self {
        case .io(let code): Errno(rawValue: code)
        case .outOfMemory, .outOfSecretMemory: .noMemory
        default: .ioError
        }
    }
}
