/// Stores, outside of the keychain, that a rekey is running, so that it continues after the program has been killed.
/// The keychain's format has no field for it.
///
/// It only records a user's request. Removing it leaves items under old keys until the next rekey; forging it reseals
/// items.
package protocol RekeyStateStore: Sendable {
    /// Returns the generation of the user key at the start of the rekey; nil if none is running.
    func rekeyGeneration(of store: [UInt8]) -> Int64?
    /// Stores the generation, durably on return; nil if no rekey is running.
    func keep(rekeyGeneration: Int64?, of store: [UInt8]) throws(KeychainFault)
}
