/// The reason why bytes are not a valid message.
package enum FrameError: Error, Hashable, Sendable {
    /// The bytes violate the protocol.
    case malformed
    /// The message would exceed the limit (EMSGSIZE).
    case tooLong
    /// No locked memory became free in time (ENOMEM).
    case outOfSecretMemory
}
