import KeychainRPC
import SystemPackage

/// What a connection itself answers (`OSStatus`, `SecBase.h`).
package enum ConnectionStatus {
    /// errSecNotAvailable: nobody answers, and nothing was done.
    package static let notAvailable: Int32 = -25291
    /// errSecIO: whether a change was made is not known, for the answer to it did not come.
    package static let io: Int32 = -36
    /// errSecMissingEntitlement: the mount is another user's.
    package static let missingEntitlement: Int32 = -34018
    /// errSecInteractionNotAllowed: a lock came in between.
    package static let interactionNotAllowed: Int32 = -25308
    /// errSecDataTooLarge
    package static let dataTooLarge: Int32 = -25302
    /// errSecAllocate: no memory, thread or descriptor.
    package static let allocate: Int32 = -108
    /// errSecParam
    package static let param: Int32 = -50
}

extension RPCChannel.Failure {
    /// `isChange`: of a request that changes something.
    func status(isChange: Bool) -> Int32 {
        switch self {
        case .notAsked(let errno): Self.status(errno) ?? ConnectionStatus.notAvailable
        case .lost(Self.noKey): ConnectionStatus.interactionNotAllowed
        case .lost(let errno): isChange ? ConnectionStatus.io : Self.status(errno) ?? ConnectionStatus.notAvailable
        }
    }

    /// Nil for whatever means that nobody answers.
    private static func status(_ errno: Errno) -> Int32? {
        switch errno {
        case .permissionDenied, .notPermitted: ConnectionStatus.missingEntitlement
        case Self.noKey: ConnectionStatus.interactionNotAllowed
        case .messageTooLong: ConnectionStatus.dataTooLarge
        // ENOSPC: the daemon has no memory for the request.
        case .noMemory, .noSpace, .tooManyOpenFiles, .tooManyOpenFilesInSystem, .resourceTemporarilyUnavailable:
            ConnectionStatus.allocate
        default: nil
        }
    }

    /// ENOKEY of errno(3).
    private static let noKey = Errno(rawValue: 126)
}

extension FrameError {
    /// Of a request that cannot be sent.
    var status: Int32 {
        switch self {
        case .malformed: ConnectionStatus.param
        case .tooLong: ConnectionStatus.dataTooLarge
        case .outOfSecretMemory: ConnectionStatus.allocate
        }
    }
}
