import Glibc

/// Why a file is not taken as a secret.
package enum SecretFileError: Error, Equatable, Sendable {
    /// A directory, a pipe or a device: it may have no end, or none soon.
    case notRegular
    /// Its group or others have a right to it, or it belongs to another user.
    case notPrivate
    /// Other users may write to it: they know its contents, or choose them.
    case othersMayWrite
    /// More bytes than are taken.
    case tooLong
    /// No locked memory, or opening or reading failed.
    case crypto(CryptoError)
}

/// All bytes of a regular file as a secret.
package enum SecretFile {
    /// Its bytes, and whether its group or others may read it.
    package struct Contents: ~Copyable, Sendable {
        package let bytes: SecretBytes
        package let isExposed: Bool

        /// The bytes alone.
        package consuming func take() -> SecretBytes { bytes }
    }

    /// Reads at most `limit` bytes of a file that no other user may write to. Does not block.
    ///
    /// - Parameters:
    ///   - mustBePrivate: Whether its group and others must have no right to it.
    ///   - followsLinks: Whether `path` may be a symbolic link; ELOOP if it is one and may not.
    package static func read(
        _ path: String, limit: Int, mustBePrivate: Bool = false, followsLinks: Bool = true,
        in arena: SecretArena = .shared
    ) throws(SecretFileError) -> Contents {
        let flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW)
        let descriptor = unsafe open(path, flags)
        guard descriptor >= 0 else { throw .crypto(.io(errno)) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .crypto(.io(errno)) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
        let exposure = FileExposure(status)
        guard !mustBePrivate || exposure.isPrivate else { throw .notPrivate }
        guard !exposure.othersMayWrite else { throw .othersMayWrite }
        do {
            let bytes = try SecretBytes.read(from: descriptor, limit: limit, in: arena)
            return Contents(bytes: bytes, isExposed: exposure.othersMayRead)
        } catch {
            throw error == .invalidParameter ? .tooLong : .crypto(error)
        }
    }
}
