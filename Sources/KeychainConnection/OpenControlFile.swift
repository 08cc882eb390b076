import LinuxSupport
package import SecretCrypto
package import SystemPackage

/// A client's open control file of a mount (contract, section 9). Its calls block until the daemon replies, so they
/// belong on a thread that other threads wait for with a timeout.
struct OpenControlFile: ~Copyable {
    private let descriptor: FileDescriptor

    /// Opens `name` in the control directory of the mount at `mountPoint`.
    ///
    /// - Throws: ENOTSUP if the file is not in a mounted keychain, EPERM if the mount belongs to another user. Neither
    ///   receives a secret.
    init(
        _ name: String, at mountPoint: String, _ mode: FileDescriptor.AccessMode, of owner: MountOwner
    ) throws(Errno) {
        descriptor = try Self.open(name, mountPoint, mode, owner)
    }

    private static func open(
        _ name: String, _ mountPoint: String, _ mode: FileDescriptor.AccessMode, _ owner: MountOwner
    ) throws(Errno) -> FileDescriptor {
        let descriptor = try DirectoryFile.open(".keychainfs/" + name, below: mountPoint, mode)
        do throws(Errno) {
            try check(descriptor, owner)
            return descriptor
        } catch {
            try? descriptor.close()
            throw error
        }
    }

    private static func check(_ descriptor: FileDescriptor, _ owner: MountOwner) throws(Errno) {
        guard let mount = MountIdentity(of: descriptor) else { throw .notSupported }
        do throws(MountRequirement.Violation) {
            try owner.requirement.check(mount)
        } catch .anotherUser {
            throw .notPermitted
        } catch {
            throw .notSupported
        }
    }

    deinit {
        try? descriptor.close()
    }

    /// The mount in which the file was opened.
    var mount: MountIdentity? { MountIdentity(of: descriptor) }

    func write(_ bytes: borrowing SecretBytes) throws(Errno) {
        do throws(CryptoError) {
            try bytes.write(to: descriptor.rawValue)
        } catch {
            throw error.errno
        }
    }

    /// Reads up to `limit` bytes. Returns no bytes at the end.
    func read(limit: Int) throws(Errno) -> SecretBytes {
        do throws(CryptoError) {
            return try SecretBytes.readChunk(from: descriptor.rawValue, limit: limit)
        } catch {
            throw error.errno
        }
    }
}

extension CryptoError {
    /// ENOMEM if the locked memory is exhausted.
    package var errno: Errno {
        switch self {
        case .io(let code): Errno(rawValue: code)
        case .outOfMemory, .outOfSecretMemory: .noMemory
        default: .ioError
        }
    }
}
