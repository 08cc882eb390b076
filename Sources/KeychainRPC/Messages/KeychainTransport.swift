/// What answers requests: the daemon behind a mount, or a keychain in this process. Can be used by several threads.
package protocol KeychainTransport: Sendable {
    /// Carries out a request.
    ///
    /// - Parameters:
    ///   - secret: what `.secret(0)` of the request stands for; not looked at if there is none. The caller's own bytes: how
    ///     much of them is copied at a time is for the connection to say, locked memory being scarce.
    ///   - receive: called for each frame in order, on this thread, before the call returns; no frame outlives its call.
    ///     What it got is void unless the result is 0. Failures that no frame could tell are the result alone.
    /// - Returns: OSStatus: errSecNotAvailable where nobody answers, errSecMissingEntitlement for a caller who may not,
    ///   errSecInteractionNotAllowed for what is locked; else as Keychain Services.
    func perform(
        _ request: ItemRequest, secret: RawSpan, receive: (borrowing ResponseFrame) -> Void
    ) -> Int32
}
