/// Where a device keeps the highest commit number that it has seen of a store: outside the store, so that an older copy
/// of the whole file is told from the newest (contract, S2).
///
/// A port: it sees bytes that are authenticated already, and no key.
package protocol CommitNumberStore: Sendable {
    /// What was last kept for a store; nil if nothing was. Bytes that cannot be had are no bytes: an empty array.
    func load(for store: [UInt8]) -> [UInt8]?
    /// Takes the place of what was kept, durably and whole; a crash leaves the old or the new bytes.
    func save(_ record: [UInt8], for store: [UInt8]) throws(KeychainFault)
}

/// What the first unlock found when it compared the store with what this device had kept.
package enum RollbackCheck: Hashable, Sendable {
    /// Not compared yet, or nobody keeps numbers.
    case none
    /// Nothing had been kept: an older copy would not have been told.
    case first
    /// The store is what this device has last seen, or newer.
    case passed
    /// An older copy, or a kept number that is not what was written, and somebody has accepted it.
    case accepted
}
