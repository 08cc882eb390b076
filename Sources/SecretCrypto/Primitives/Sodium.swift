import CSodium
import Glibc

/// libsodium as a whole.
package enum Sodium {
    private static let status = sodium_init()

    /// Makes libsodium ready (`sodium_init`: picks the fastest code for this processor). Once, whoever calls;
    /// everything here calls it itself, the program calls it to learn of a failure. `io` if the kernel's random
    /// numbers cannot be reached.
    package static func start() throws(CryptoError) {
        guard status >= 0 else { throw .io(EIO) }
    }

    /// Without `sodium_init` the portable code works too: only `start` tells of its failure.
    static func ensure() {
        _ = status
    }

    /// Overwrites what a calculation with keys may have left below the caller's frame (`sodium_stackzero`).
    static func wipeStack() {
        sodium_stackzero(2048)
    }
}
