/// The reason for which a request failed.
public struct KeychainError: Error, Hashable, Sendable {
    /// The status of Keychain Services (`OSStatus`).
    public let status: Int32

    public init(status: Int32) { self.status = status }

    /// The item does not exist (errSecItemNotFound).
    public static let itemNotFound = KeychainError(status: -25300)
    /// An item with that key exists already (errSecDuplicateItem).
    public static let duplicateItem = KeychainError(status: -25299)
    /// A matching item, or possibly matching item, is locked (errSecInteractionNotAllowed).
    public static let locked = KeychainError(status: -25308)
    /// No keychain is mounted, or its daemon does not respond; nothing was changed (errSecNotAvailable).
    public static let notAvailable = KeychainError(status: -25291)
    /// The access group is not one of this program's, or the mount is another user's (errSecMissingEntitlement).
    public static let missingEntitlement = KeychainError(status: -34018)
    /// The keychain does not accept a value (errSecParam).
    public static let invalidParameter = KeychainError(status: -50)
    /// A secret or the attributes exceed the limit (errSecDataTooLarge).
    public static let tooLarge = KeychainError(status: -25302)
    /// The keychain or its medium is read-only (errSecReadOnly).
    public static let readOnly = KeychainError(status: -25292)
    /// errSecDiskFull
    public static let diskFull = KeychainError(status: -34)
    /// The item is damaged (errSecDecode).
    public static let damaged = KeychainError(status: -26275)
    /// The passphrase opens no key slot (errSecAuthFailed).
    public static let wrongPassphrase = KeychainError(status: -25293)
    /// There is no memory, thread or descriptor (errSecAllocate).
    public static let outOfMemory = KeychainError(status: -108)
    /// Reading or writing failed. A change may or may not have been committed (errSecIO).
    public static let inputOutput = KeychainError(status: -36)
}

extension KeychainError: CustomStringConvertible {
    private static let texts: [KeychainError: String] = [
        .itemNotFound: "There is no such item in the keychain.",
        .duplicateItem: "There is such an item in the keychain already.",
        .locked: "The keychain, or the item, is locked.",
        .notAvailable: "No keychain is available.",
        .missingEntitlement: "This program or user may not use that part of the keychain.",
        .invalidParameter: "The keychain does not take that value.",
        .tooLarge: "The secret or its attributes are too large.",
        .readOnly: "The keychain cannot be changed.",
        .diskFull: "The disk that holds the keychain is full.",
        .damaged: "The item is damaged.",
        .wrongPassphrase: "That does not unlock the keychain.",
        .outOfMemory: "There is not enough memory.",
        .inputOutput: "The keychain could not be read or written.",
    ]

    public var description: String { Self.texts[self] ?? "The keychain returned status \(status)." }
}
