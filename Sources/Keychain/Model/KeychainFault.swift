/// An error of a keychain, in the terms of Keychain Services (`SecBase.h`, status codes `errSec…`).
///
/// Contains no name, attribute or secret, so it may be logged.
package enum KeychainFault: Error, Hashable, Sendable {
    /// errSecItemNotFound
    case itemNotFound
    /// errSecDuplicateItem
    case duplicateItem
    /// errSecInteractionNotAllowed: the item's protection class is locked.
    case interactionNotAllowed
    /// errSecAuthFailed: the unlock secret opens no key slot.
    case authFailed
    /// errSecParam
    case param
    /// errSecNoSuchAttr: the item class does not have the attribute.
    case noSuchAttr
    /// errSecReadOnlyAttr: the system maintains the attribute.
    case readOnlyAttr
    /// errSecDataTooLarge: the secret exceeds the limit.
    case dataTooLarge
    /// errSecDataTooLarge: the attributes together exceed the limit.
    case attributesTooLarge
    /// errSecDecode: a record is not authentic, or malformed.
    case decode
    /// errSecDecode: rows or indexes differ from the committed ones, so that they are not sealed under new keys.
    case rowsDiffer
    /// errSecDiskFull
    case diskFull
    /// errSecReadOnly
    case readOnly
    /// errSecNotAvailable: the store is closed or no longer exists.
    case notAvailable
    /// errSecAllocate: no locked memory became free in time, or the memory of a key derivation is not available.
    case allocate
    /// The item has changed since it was read, and must be read again.
    case staleItem
    /// A directory to be removed still contains items.
    case directoryNotEmpty
    /// The file is not a keychain.
    case notAKeychain
    /// The file is a keychain of a format that this version does not support.
    case unknownFormat(Int)
    /// The store uses a feature that this version must know to read it.
    case unknownFeature
    /// The parameters of the key derivation are outside the range that is ever written. It has not been run.
    case unacceptableCost
    /// The store is older than the state that this device has seen; both commit numbers.
    case rolledBack(kept: Int64, found: Int64)
    /// The store has the commit number that this device has seen, but another commit ID: two programs have changed copies
    /// of one store.
    case forked(commit: Int64)
    /// The store has a larger commit number, but lacks the last changes of this device, whose mark has that number:
    /// another device has changed a copy without them.
    case missingChanges(mark: Int64)
    /// The store is a copy from before its user key was replaced: this device has seen a newer one. The slots that have been
    /// removed or changed since open it, and their holders may have changed it.
    case replacedUserKey
    /// The state that this device has stored for the keychain is not authentic for it: one of the two is damaged or forged.
    case untrustedCommitNumber
    /// This device has used the store, but has no commit number stored for it.
    case missingCommitNumber
    /// The key slots have not been changed.
    case slotRefused(SlotChangeError)
    /// Another process has the store open; its process ID, or 0 if it is unknown.
    case inUse(processID: Int32)
    /// errSecIO: an SQLite result code of the store, or a negative errno.
    case io(Int32)
    /// errSecIO: the file that this device keeps for the keychain cannot be read; a negative errno. It is neither missing nor
    /// damaged.
    case deviceFile(Int32)

    /// Whether a repetition of the call may succeed: an error of the disk or of the system.
    var isTemporary: Bool {
        switch self {
        case .io, .allocate: true
        default: false
        }
    }
}

/// Returns the result of `body`; nil if the row is damaged or cannot be opened now or on this device.
func unlessUnreadable<Result>(_ body: () throws(KeychainFault) -> Result?) throws(KeychainFault) -> Result? {
    do throws(KeychainFault) {
        return try body()
    } catch {
        guard error == .decode || error == .interactionNotAllowed else { throw error }
        return nil
    }
}

/// Returns the result of `body`; nil if it throws ``KeychainFault/decode``.
package func nilIfDamaged<Result>(_ body: () throws(KeychainFault) -> Result) throws(KeychainFault) -> Result? {
    do throws(KeychainFault) {
        return try body()
    } catch {
        guard error == .decode else { throw error }
        return nil
    }
}
