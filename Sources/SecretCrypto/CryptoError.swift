/// An error of a cryptographic operation or of an allocation in this module. Contains no secret and no name.
package enum CryptoError: Error, Equatable, Sendable {
    /// The locked arena had no free slab within one second, or is smaller than the request (ENOMEM).
    case outOfSecretMemory
    /// The system did not provide ordinary memory for Argon2id's working set.
    case outOfMemory
    /// The user's share of a ``MemoryBudget`` is exhausted.
    case overBudget
    /// The ciphertext, the associated data or the key does not match, or a public key is of low order.
    case authenticationFailed
    /// The key has been revoked.
    case keyUnavailable
    /// A size, range or cost outside the range that the function accepts.
    case invalidParameter
    /// A system call failed with this errno.
    case io(Int32)
}
