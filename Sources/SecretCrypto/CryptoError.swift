/// Why a calculation or an allocation of this module failed. Carries no secret and no name.
package enum CryptoError: Error, Equatable, Sendable {
    /// The locked arena had no room for a second, or never can have (ENOMEM).
    case outOfSecretMemory
    /// The system gave no ordinary memory: Argon2id's working set.
    case outOfMemory
    /// The user has as much memory as a ``MemoryBudget`` permits.
    case overBudget
    /// The bytes are not what the key sealed, or a public key is of low order.
    case authenticationFailed
    /// The key has been revoked.
    case keyUnavailable
    /// A size, range or cost outside what the function takes.
    case invalidParameter
    /// A system call failed with this errno.
    case io(Int32)
}
