import SecretCrypto
import Synchronization

/// What the program, unlike the libraries, sets up before it has a secret.
package enum MemorySetup {
    /// The daemon never holds a whole value, and its receive buffers have to be locked too (contract, H1).
    package static func prepare() {
        SecretArena.sharedCapacity.store(2 << 20, ordering: .relaxed)
    }
}
