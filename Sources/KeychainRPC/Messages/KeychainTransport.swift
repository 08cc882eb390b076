/// A connection to a keychain that handles requests: through the daemon of a mount, or in this process. Thread-safe.
package protocol KeychainTransport: Sendable {
    /// Executes a request.
    ///
    /// - Parameters:
    ///   - secret: The bytes to which `.secret(0)` of the request refers; ignored if there is no such reference. The
    ///     caller owns them. The connection decides how many it copies at a time, because locked memory is scarce.
    ///   - receive: Called for each frame in order, on this thread, before the call returns. Frames must not be used
    ///     afterwards. They are invalid unless the result is 0.
    /// - Returns: An OSStatus: errSecNotAvailable if no keychain responds, errSecMissingEntitlement for a caller
    ///   without access, errSecInteractionNotAllowed for locked items; otherwise that of Keychain Services. A failure
    ///   that no frame could report is the result alone.
    func perform(
        _ request: ItemRequest, secret: RawSpan, receive: (borrowing ResponseFrame) -> Void
    ) -> Int32
}
