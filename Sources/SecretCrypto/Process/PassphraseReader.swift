import Glibc

/// Reads passphrases from a file, a descriptor or a terminal, directly into locked memory.
///
/// One trailing newline (LF) is removed. A CR before it, a second LF and spaces belong to the passphrase.
package enum PassphraseReader {
    /// The maximum size of a passphrase in bytes, without the newline.
    package static let limit = 64 << 10

    /// A passphrase and a warning about its source.
    package struct Input: ~Copyable, Sendable {
        package let passphrase: SecretBytes
        /// Whether it is in a regular file that the group or others may read.
        package let isExposed: Bool

        /// Returns the passphrase alone.
        package consuming func take() -> SecretBytes { passphrase }
    }

    /// Reads a complete file; `-` is standard input.
    ///
    /// - Parameter mustBePrivate: Whether a regular file is refused unless root or this user owns it and the group and
    ///   others have no access.
    /// - Throws: ``PassphraseError/notPrivate`` before anything is read.
    package static func read(
        file path: String, mustBePrivate: Bool = false, in arena: SecretArena = .shared
    ) throws(PassphraseError) -> Input {
        guard path != "-" else { return try input(from: STDIN_FILENO, in: arena) }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw .crypto(.io(errno)) }
        defer { close(descriptor) }
        guard !mustBePrivate || isPrivate(descriptor) else { throw .notPrivate }
        return try input(from: descriptor, in: arena)
    }

    /// Reads from `descriptor` to the end of file. Does not close it.
    package static func read(
        descriptor: Int32, in arena: SecretArena = .shared
    ) throws(PassphraseError) -> SecretBytes {
        try input(from: descriptor, in: arena).take()
    }

    /// Prompts at the controlling terminal (tty(4)), without echo.
    ///
    /// The terminal's settings are restored in all cases except SIGKILL and SIGSTOP: other signals are delivered
    /// afterwards.
    ///
    /// - Parameter prompt: The text to print, unchanged; printed again when the program continues after a stop.
    package static func ask(
        _ prompt: String, terminal path: String = "/dev/tty", in arena: SecretArena = .shared
    ) throws(PassphraseError) -> SecretBytes {
        let terminal = try Terminal(path: path)
        return try withoutNewline(terminal.readLine(prompt: prompt, in: arena))
    }

    private static func input(from descriptor: Int32, in arena: SecretArena) throws(PassphraseError) -> Input {
        var status = stat()
        let isRegular = unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        let bytes: SecretBytes
        do {
            bytes = try SecretBytes.read(from: descriptor, limit: limit + 1, in: arena)
        } catch {
            throw error == .invalidParameter ? .tooLong : .crypto(error)
        }
        return Input(
            passphrase: try withoutNewline(bytes), isExposed: isRegular && FileExposure(status).othersMayRead)
    }

    private static func isPrivate(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        return FileExposure(status).isPrivate
    }

    private static func withoutNewline(_ bytes: consuming SecretBytes) throws(PassphraseError) -> SecretBytes {
        var line = bytes
        if line.count > 0, line.bytes.octets[line.count - 1] == UInt8(ascii: "\n") {
            line.truncate(to: line.count - 1)
        }
        guard line.count > 0 else { throw .empty }
        guard line.count <= limit else { throw .tooLong }
        return line
    }
}
