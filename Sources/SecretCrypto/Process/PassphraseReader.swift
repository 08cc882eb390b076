import Glibc

/// Passphrases from a file, a descriptor or a terminal, straight into locked memory.
///
/// One trailing newline, a single LF, is dropped: a CR before it, a second LF and blanks are part of the passphrase.
package enum PassphraseReader {
    /// The most bytes a passphrase has, the newline not counted.
    package static let limit = 64 << 10

    /// A passphrase and what is to be said of where it came from.
    package struct Input: ~Copyable, Sendable {
        package let passphrase: SecretBytes
        /// It lies in a regular file that its group or others may read.
        package let isExposed: Bool

        /// The passphrase alone.
        package consuming func take() -> SecretBytes { passphrase }
    }

    /// All of a file; `-` is standard input.
    ///
    /// `mustBePrivate`: a regular file of root or of this user to which its group and others have no right, or nothing
    /// is read (``PassphraseError/notPrivate``).
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

    /// All that `descriptor` gives up to its end; it stays open.
    package static func read(
        descriptor: Int32, in arena: SecretArena = .shared
    ) throws(PassphraseError) -> SecretBytes {
        try input(from: descriptor, in: arena).take()
    }

    /// Asks at the controlling terminal (tty(4)), without echo. The terminal's settings are put back whatever
    /// happens but SIGKILL and SIGSTOP: a signal waits until they are.
    ///
    /// - Parameter prompt: printed as it is, again when the program continues after a stop.
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
