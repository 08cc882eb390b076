/// An error of reading a passphrase.
package enum PassphraseError: Error, Equatable, Sendable {
    /// The input is empty, or only a newline.
    case empty
    /// Other users may read or write the file, another user owns it, or it is not a regular file.
    case notPrivate
    /// More than `PassphraseReader.limit` bytes, or a terminal line longer than the kernel's buffer (4095 bytes).
    case tooLong
    /// No terminal is available (errno of opening it or of its settings).
    case noTerminal(Int32)
    /// A signal interrupted the input, and the program continues.
    case interrupted
    /// The terminal was closed before a line was complete.
    case endOfFile
    /// No locked memory, or a read failed.
    case crypto(CryptoError)
}
