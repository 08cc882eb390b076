/// Why the keychain has not done what it was asked for.
public struct KeychainError: Error, Hashable, Sendable {
    /// The status of Keychain Services (`OSStatus`).
    public let status: Int32

    public init(status: Int32) { self.status = status }

    /// There is no such item (errSecItemNotFound).
    public static let itemNotFound = KeychainError(status: -25300)
    /// There is such an item already (errSecDuplicateItem).
    public static let duplicateItem = KeychainError(status: -25299)
    /// The item, or one that may be meant, is locked (errSecInteractionNotAllowed).
    public static let locked = KeychainError(status: -25308)
    /// No keychain is mounted there, or its daemon does not answer; nothing was changed (errSecNotAvailable).
    public static let notAvailable = KeychainError(status: -25291)
    /// An access group that is not this program's, or a mount that is not this user's (errSecMissingEntitlement).
    public static let missingEntitlement = KeychainError(status: -34018)
    /// A value that the keychain does not take (errSecParam).
    public static let invalidParameter = KeychainError(status: -50)
    /// A secret, or attributes, over the limit (errSecDataTooLarge).
    public static let tooLarge = KeychainError(status: -25302)
    /// The keychain or its medium cannot be changed (errSecReadOnly).
    public static let readOnly = KeychainError(status: -25292)
    /// errSecDiskFull
    public static let diskFull = KeychainError(status: -34)
    /// The item is damaged (errSecDecode).
    public static let damaged = KeychainError(status: -26275)
    /// A passphrase that opens nothing (errSecAuthFailed).
    public static let wrongPassphrase = KeychainError(status: -25293)
    /// No memory, thread or descriptor (errSecAllocate).
    public static let outOfMemory = KeychainError(status: -108)
    /// Reading or writing failed. After a change: it is not known whether that was made (errSecIO).
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

    public var description: String { Self.texts[self] ?? "The keychain answered with status \(status)." }
}
