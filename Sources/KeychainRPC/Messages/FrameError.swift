/// Why bytes are no message.
package enum FrameError: Error, Hashable, Sendable {
    /// They are not what this protocol says.
    case malformed
    /// They would be more than the limit (EMSGSIZE).
    case tooLong
    /// No locked memory was free in time for a secret (ENOMEM).
    case outOfSecretMemory
}
