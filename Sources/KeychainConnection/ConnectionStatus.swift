import KeychainRPC
import SystemPackage

/// The statuses of a connection itself (`OSStatus`, `SecBase.h`).
package enum ConnectionStatus {
    /// errSecNotAvailable: no daemon responds, and the request had no effect.
    package static let notAvailable: Int32 = -25291
    /// errSecIO: the response was lost; a change may have been committed.
    package static let io: Int32 = -36
    /// errSecMissingEntitlement: the mount belongs to another user.
    package static let missingEntitlement: Int32 = -34018
    /// errSecInteractionNotAllowed: the keychain was locked during the request.
    package static let interactionNotAllowed: Int32 = -25308
    /// errSecDataTooLarge
    package static let dataTooLarge: Int32 = -25302
    /// errSecAllocate: no memory, thread or descriptor.
    package static let allocate: Int32 = -108
    /// errSecParam
    package static let param: Int32 = -50
}

extension RPCChannel.Failure {
    /// Returns the status of the failure. `isChange`: whether the request changes items.
    func status(isChange: Bool) -> Int32 {
        switch self {
        case .notAsked(let errno): Self.status(errno) ?? ConnectionStatus.notAvailable
        case .lost(Self.noKey): ConnectionStatus.interactionNotAllowed
        case .lost(let errno): isChange ? ConnectionStatus.io : Self.status(errno) ?? ConnectionStatus.notAvailable
        }
    }

    /// Returns the status of an errno, or nil if the errno means that no daemon responds.
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
    /// The status of a request that cannot be sent.
    var status: Int32 {
        switch self {
        case .malformed: ConnectionStatus.param
        case .tooLong: ConnectionStatus.dataTooLarge
        case .outOfSecretMemory: ConnectionStatus.allocate
        }
    }
}
