package import FileSystemCore
package import Keychain
package import SecretCrypto
package import SystemPackage

/// The handler of requests through `.keychainfs/rpc` (contract, section 9). The tree collects requests and returns
/// responses without knowing their contents.
package protocol RPCBackend: Sendable {
    /// Returns the length of a complete request in bytes, as its first bytes state; nil if they are too few.
    ///
    /// - Throws: `messageTooLong` (EMSGSIZE) for a request beyond the limit; `invalidArgument` for an invalid one.
    func length(ofRequestBeginning prefix: RawSpan) throws(Errno) -> Int?

    /// Executes a complete request. Its changes are committed on return.
    ///
    /// - Parameter willWait: Must be called before long or blocking operations, including those for the first bytes of
    ///   the response, so that other requests are served in the meantime. Costs more than a lookup.
    /// - Throws: Errors that prevent a response: `interactionNotAllowed` if a lock has wiped the request in the
    ///   meantime; `allocate`. Nothing has been changed then. Errors of the request itself are part of the response.
    func respond(
        to request: borrowing SealedBuffer, from caller: Caller, willWait: () -> Void
    ) throws(KeychainFault) -> (changes: [ItemChange], response: any RPCResponse)
}

/// A response that is generated while it is read. Used by one thread at a time.
package protocol RPCResponse: Sendable {
    /// Returns the next bytes, at most 64 KiB, regardless of message boundaries; nil at the end.
    ///
    /// - Throws: `interactionNotAllowed` if a lock has wiped the rest; `allocate`, after which the call may be
    ///   repeated. After any other error the rest is lost.
    func next() throws(KeychainFault) -> SecretBytes?

    /// Whether the response is complete, so that a new request may follow.
    var hasEnded: Bool { get }

    /// An estimate of the memory for the rest of the response in bytes.
    var heldBytes: Int { get }
}
