package import FileSystemCore
package import Keychain
package import SecretCrypto
package import SystemPackage

/// Who carries out what is asked through `.keychainfs/rpc` (contract, section 9): the tree collects requests and gives answers,
/// and knows nothing of what they say.
package protocol RPCBackend: Sendable {
    /// The length of a whole request in bytes, as its first ones say; nil if they are too few to tell.
    ///
    /// - Throws: `messageTooLong` (EMSGSIZE) for one that is refused for its length, `invalidArgument` for what is no request.
    func length(ofRequestBeginning prefix: RawSpan) throws(Errno) -> Int?

    /// Carries out a whole request. What it changes is committed when this returns.
    ///
    /// - Parameter willWait: to be called before what takes long or waits, be it in making the answer's first bytes: others
    ///   are served then meanwhile. That costs more than a look-up does.
    /// - Throws: where not even an answer can be made: `interactionNotAllowed` if a lock took the request away meanwhile,
    ///   `allocate`. Nothing has been changed then. What the request itself meets with is told in the answer.
    func respond(
        to request: borrowing SealedBuffer, from caller: Caller, willWait: () -> Void
    ) throws(KeychainFault) -> (changes: [ItemChange], response: any RPCResponse)
}

/// An answer that is made as it is read. Used by one thread at a time.
package protocol RPCResponse: Sendable {
    /// The next bytes, at most 64 KiB, with no regard to where messages begin; nil at the end.
    ///
    /// - Throws: `interactionNotAllowed` if a lock has taken away what is not made yet; `allocate`, after which it may be asked
    ///   again. After any other error the rest is lost.
    func next() throws(KeychainFault) -> SecretBytes?

    /// Whether all of it has been given: a new request may follow.
    var hasEnded: Bool { get }

    /// About how much memory it keeps for what follows, in bytes.
    var heldBytes: Int { get }
}
