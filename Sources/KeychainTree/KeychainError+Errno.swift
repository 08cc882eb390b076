import FileSystemCore
package import Keychain
package import SystemPackage

extension KeychainFault {
    /// The errno of a fault: contract, section 7, one row per case.
    package var errno: Errno {
        switch self {
        case .itemNotFound: .noSuchFileOrDirectory
        case .duplicateItem: .fileExists
        case .interactionNotAllowed: .noKey
        case .authFailed: .keyRejected
        case .param: .invalidArgument
        case .noSuchAttr: .operationNotSupported
        case .readOnlyAttr: .notPermitted
        case .dataTooLarge: .fileTooLarge
        case .attributesTooLarge: .listTooLong
        // The store row is missing in a file that was a keychain when it was opened, which is a damage.
        case .decode, .rowsDiffer, .notAKeychain: .corrupt
        case .diskFull: .noSpace
        case .readOnly: .readOnlyFileSystem
        case .notAvailable: .operationNotSupportedByDevice
        case .allocate: .noMemory
        case .directoryNotEmpty: .directoryNotEmpty
        // Concurrent changes came first in every attempt.
        case .inUse, .staleItem: .resourceBusy
        case .slotRefused(.lastSlot): .notPermitted
        case .slotRefused(.passcodeItems): .directoryNotEmpty
        case .slotRefused(.sharedCost): .operationNotSupported
        case .slotRefused(.sameSecret): .fileExists
        // ESTALE: the store is older than a state seen before.
        case .replacedUserKey: .keyRevoked
        case .rolledBack, .forked, .missingChanges, .untrustedCommitNumber, .missingCommitNumber: .staleNFSFileHandle
        case .unknownFormat, .unknownFeature, .unacceptableCost, .io, .deviceFile: .ioError
        }
    }
}

extension NameError {
    /// The errno of an invalid name.
    var errno: Errno {
        switch self {
        case .notCanonical: .invalidArgument
        case .notUTF8: .illegalSequence
        }
    }
}

/// Runs `body` and maps its error to an errno.
func mapped<Result: ~Copyable>(_ body: () throws(KeychainFault) -> Result) throws(Errno) -> Result {
    do {
        return try body()
    } catch {
        throw error.errno
    }
}
