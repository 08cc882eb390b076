/// Why there is no passphrase.
package enum PassphraseError: Error, Equatable, Sendable {
    /// Nothing, or only a newline.
    case empty
    /// Its file may be read or written by others, belongs to another user, or is no regular file.
    case notPrivate
    /// More than `PassphraseReader.limit` bytes, or a terminal line longer than the kernel keeps (4095 bytes).
    case tooLong
    /// There is no terminal to ask at (errno of opening it or of its settings).
    case noTerminal(Int32)
    /// A signal came that the program survived.
    case interrupted
    /// The terminal was closed before a line was complete.
    case endOfFile
    /// No locked memory, or a read failed.
    case crypto(CryptoError)
}
