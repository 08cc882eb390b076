import Glibc

/// The reason why a file is refused as a secret.
package enum SecretFileError: Error, Equatable, Sendable {
    /// A directory, a pipe or a device, which may have no end.
    case notRegular
    /// The group or others have access, or another user owns it.
    case notPrivate
    /// Other users may write to it, so they know or choose its contents.
    case othersMayWrite
    /// More bytes than the limit.
    case tooLong
    /// No locked memory, or opening or reading the file failed.
    case crypto(CryptoError)
}

/// Reads a regular file as a secret.
package enum SecretFile {
    /// The bytes, and whether the group or others may read the file.
    package struct Contents: ~Copyable, Sendable {
        package let bytes: SecretBytes
        package let isExposed: Bool

        /// Returns the bytes alone.
        package consuming func take() -> SecretBytes { bytes }
    }

    /// Reads at most `limit` bytes of a file to which no other user may write. Does not block.
    ///
    /// - Parameters:
    ///   - mustBePrivate: Whether the group and others must have no access.
    ///   - followsLinks: Whether `path` may be a symbolic link; otherwise a link fails with ELOOP.
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
