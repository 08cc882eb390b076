import SecretCrypto
import Synchronization

/// The memory settings of the program, as opposed to those of the libraries.
package enum MemorySetup {
    /// Sets the size of the arena, before there is a secret. The daemon never has a complete value in memory, and its
    /// receive buffers must be locked, too (contract, H1).
    package static func prepare() {
        SecretArena.sharedCapacity.store(2 << 20, ordering: .relaxed)
    }
}
