import DeviceState
import Keychain
import KeychainStorage

extension KeychainFileError {
    init(_ error: StoreOpenError) {
        self =
            switch error {
            case .notFound: .notFound
            case .alreadyExists, .leftoverFile: .exists
            case .foreignFile(let path), .mismatchedLog(let path): .foreignFile(path: path)
            case .severalNames: .severalNames
            case .othersMayWrite: .othersMayWrite
            case .notRegularFile, .notAKeychain, .unknownFormat: .notAKeychain
            case .damaged: .damaged
            case .inUse(let process): .inUse(process: process > 0 ? process : nil)
            case .permissionDenied, .readOnlyFileSystem, .needsRecovery: .notWritable
            case .diskFull: .diskFull
            case .io: .inputOutput
            case .initialization(let error): KeychainFileError(error)
            }
    }

    init(_ error: KeychainFault) {
        self =
            switch error {
            case .authFailed: .wrongSecret
            case .param: .badSecret
            case .decode, .rowsDiffer: .damaged
            case .notAKeychain, .unknownFormat, .unknownFeature, .unacceptableCost: .notAKeychain
            case .inUse(let process): .inUse(process: process > 0 ? process : nil)
            case .rolledBack, .forked, .missingChanges, .replacedUserKey, .untrustedCommitNumber, .missingCommitNumber:
                .rolledBack
            case .readOnly: .notWritable
            case .diskFull: .diskFull
            case .allocate: .outOfMemory
            default: .inputOutput
            }
    }

    init(_ error: DeviceKeyError) { self = .deviceKey(error.message) }
}
