/// What can go wrong in a keychain, in the terms of Keychain Services (`SecBase.h`, status codes `errSec…`).
///
/// Carries no name, attribute or secret: it may be logged.
package enum KeychainFault: Error, Hashable, Sendable {
    /// errSecItemNotFound
    case itemNotFound
    /// errSecDuplicateItem
    case duplicateItem
    /// errSecInteractionNotAllowed: the item's protection class is locked.
    case interactionNotAllowed
    /// errSecAuthFailed: no key slot opens with what was given.
    case authFailed
    /// errSecParam
    case param
    /// errSecNoSuchAttr: the class has no such attribute.
    case noSuchAttr
    /// errSecReadOnlyAttr: the attribute is kept by the system.
    case readOnlyAttr
    /// errSecDataTooLarge: the contents exceed the limit.
    case dataTooLarge
    /// errSecDataTooLarge: the attributes together exceed the limit.
    case attributesTooLarge
    /// errSecDecode: a record is not what was written; its plaintext is refused.
    case decode
    /// errSecDiskFull
    case diskFull
    /// errSecReadOnly
    case readOnly
    /// errSecNotAvailable: the store is closed or gone.
    case notAvailable
    /// errSecAllocate: no locked memory was free in time, or the key derivation found none.
    case allocate
    /// The item has been changed since it was read: read it again.
    case staleItem
    /// A directory that is to be removed still holds items.
    case directoryNotEmpty
    /// The file is no keychain.
    case notAKeychain
    /// The file is a keychain of a format that this version does not know.
    case unknownFormat(Int)
    /// The key derivation's parameters are outside what is ever written: refused before they are tried.
    case unacceptableCost
    /// The store is older than what this device has seen of it: commit numbers.
    case rolledBack(kept: Int64, found: Int64)
    /// The commit number that this device keeps for the store is not what was written.
    case untrustedCommitNumber
    /// The key slots stay as they are.
    case slotRefused(SlotChangeError)
    /// Another process holds the store; 0 if it cannot be told which.
    case inUse(processID: Int32)
    /// errSecIO: the store failed with this SQLite result code (or errno, negative).
    case io(Int32)
}

/// Returns what `body` returns; nil if the row is damaged or cannot be opened now or on this device.
func unlessUnreadable<Result>(_ body: () throws(KeychainFault) -> Result?) throws(KeychainFault) -> Result? {
    do throws(KeychainFault) {
        return try body()
    } catch {
        guard error == .decode || error == .interactionNotAllowed else { throw error }
        return nil
    }
}

/// What `body` returns; nil for what is not what was written (``KeychainFault/decode``).
func nilIfDamaged<Result>(_ body: () throws(KeychainFault) -> Result) throws(KeychainFault) -> Result? {
    do throws(KeychainFault) {
        return try body()
    } catch {
        guard error == .decode else { throw error }
        return nil
    }
}
