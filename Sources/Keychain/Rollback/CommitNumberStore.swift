/// A device's storage of the highest commit number that it has seen of a keychain, outside of the keychain, to detect
/// an older copy of the whole file (contract, S2).
///
/// It only has access to authenticated bytes and to no key.
package protocol CommitNumberStore: Sendable {
    /// Returns the stored bytes; nil if none were stored; an empty array if it is not a regular file.
    ///
    /// - Throws: `deviceFile` if the disk or the system prevents it.
    func load(for store: [UInt8]) throws(KeychainFault) -> [UInt8]?
    /// Replaces the stored bytes, durably and atomically: a crash leaves the old or the new ones.
    func save(_ record: [UInt8], for store: [UInt8]) throws(KeychainFault)
}

/// The result of comparing the keychain with the stored number at the first unlock.
package enum RollbackCheck: Hashable, Sendable {
    /// No comparison yet, or no number is stored for this keychain.
    case none
    /// This device is new to the keychain: no number is stored, so that an older copy is not detected.
    case first
    /// The keychain has the stored number or a higher one.
    case passed
    /// An older or another copy, or a stored number that is missing or not authentic, which the user has accepted.
    case accepted
}
