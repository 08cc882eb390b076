/// The status of a call of Keychain Services that fails (`OSStatus`, `SecBase.h`).
package struct SecurityStatus: RawRepresentable, Error, Hashable, Sendable {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    private init(_ number: Int32) { rawValue = number }

    /// errSecUnimplemented: a match key that the class does not support.
    package static let unimplemented = SecurityStatus(-4)
    /// errSecDiskFull
    package static let diskFull = SecurityStatus(-34)
    /// errSecIO
    package static let io = SecurityStatus(-36)
    /// errSecParam: an invalid value, key or combination of keys.
    package static let param = SecurityStatus(-50)
    /// errSecAllocate
    package static let allocate = SecurityStatus(-108)
    /// errSecMissingEntitlement: an access group of another client.
    package static let missingEntitlement = SecurityStatus(-34018)
    /// errSecNotAvailable
    package static let notAvailable = SecurityStatus(-25291)
    /// errSecReadOnly
    package static let readOnly = SecurityStatus(-25292)
    /// errSecAuthFailed
    package static let authFailed = SecurityStatus(-25293)
    /// errSecInvalidKeychain
    package static let invalidKeychain = SecurityStatus(-25295)
    /// errSecDuplicateItem
    package static let duplicateItem = SecurityStatus(-25299)
    /// errSecItemNotFound
    package static let itemNotFound = SecurityStatus(-25300)
    /// errSecDataTooLarge
    package static let dataTooLarge = SecurityStatus(-25302)
    /// errSecNoSuchAttr: an attribute that the class does not have.
    package static let noSuchAttr = SecurityStatus(-25303)
    /// errSecNoSuchClass
    package static let noSuchClass = SecurityStatus(-25306)
    /// errSecInteractionNotAllowed: an item that may match is locked.
    package static let interactionNotAllowed = SecurityStatus(-25308)
    /// errSecReadOnlyAttr
    package static let readOnlyAttr = SecurityStatus(-25309)
    /// errSecWrongSecVersion
    package static let wrongSecVersion = SecurityStatus(-25310)
    /// errSecDecode
    package static let decode = SecurityStatus(-26275)
    /// errSecInternal
    package static let internalError = SecurityStatus(-26276)
}

extension SecurityStatus {
    /// Maps a fault of the keychain.
    package init(_ error: KeychainFault) {
        self =
            switch error {
            case .itemNotFound: .itemNotFound
            case .duplicateItem: .duplicateItem
            case .interactionNotAllowed: .interactionNotAllowed
            case .authFailed: .authFailed
            case .param: .param
            case .noSuchAttr: .noSuchAttr
            case .readOnlyAttr: .readOnlyAttr
            case .dataTooLarge, .attributesTooLarge: .dataTooLarge
            case .decode, .rowsDiffer: .decode
            case .diskFull: .diskFull
            case .readOnly: .readOnly
            case .notAvailable, .rolledBack, .forked, .missingChanges, .replacedUserKey, .untrustedCommitNumber,
                .missingCommitNumber,
                .inUse:
                .notAvailable
            case .allocate: .allocate
            case .notAKeychain, .unacceptableCost: .invalidKeychain
            case .unknownFormat, .unknownFeature: .wrongSecVersion
            case .staleItem, .directoryNotEmpty, .slotRefused: .internalError
            case .io, .deviceFile: .io
            }
    }

    /// Runs `body` and maps the faults of the keychain.
    static func translating<Result>(_ body: () throws(KeychainFault) -> Result) throws(SecurityStatus) -> Result {
        do throws(KeychainFault) {
            return try body()
        } catch {
            throw SecurityStatus(error)
        }
    }
}
