import CSodium
import Glibc

/// The initialization of libsodium.
package enum Sodium {
    private static let status = sodium_init()

    /// Initializes libsodium once (`sodium_init`, which selects the fastest code for this processor).
    ///
    /// Every function of this module does so itself. The program calls it to detect a failure.
    ///
    /// - Throws: `io` if the kernel's random number generator is not available.
    package static func start() throws(CryptoError) {
        guard status >= 0 else { throw .io(EIO) }
    }

    /// Initializes libsodium and ignores a failure: without `sodium_init` libsodium uses portable code.
    static func ensure() {
        _ = status
    }

    /// Overwrites the stack below the caller's frame, where calculations with keys may have left data
    /// (`sodium_stackzero`).
    static func wipeStack() {
        sodium_stackzero(2048)
    }
}
