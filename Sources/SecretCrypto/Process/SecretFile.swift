import Glibc

/// Why a file is not taken as a secret.
package enum SecretFileError: Error, Equatable, Sendable {
    /// A directory, a pipe or a device: it may have no end, or none soon.
    case notRegular
    /// Others may read or write it, or it belongs to another user.
    case notPrivate
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

    /// At most `limit` bytes; nothing is waited for.
    ///
    /// `mustBePrivate`: of root or of this user, and no right to it for its group and others.
    package static func read(
        _ path: String, limit: Int, mustBePrivate: Bool = false, in arena: SecretArena = .shared
    ) throws(SecretFileError) -> Contents {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { throw .crypto(.io(errno)) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .crypto(.io(errno)) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
        let isOwn = status.st_uid == 0 || status.st_uid == geteuid()
        guard !mustBePrivate || (isOwn && status.st_mode & (S_IRWXG | S_IRWXO) == 0) else { throw .notPrivate }
        do {
            let bytes = try SecretBytes.read(from: descriptor, limit: limit, in: arena)
            return Contents(bytes: bytes, isExposed: status.st_mode & (S_IRGRP | S_IROTH) != 0)
        } catch {
            throw error == .invalidParameter ? .tooLong : .crypto(error)
        }
    }
}
