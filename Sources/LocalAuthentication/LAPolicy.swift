/// The ways to authenticate the user. Values are those of Apple's `LAContext.h`.
public enum LAPolicy: Int, Sendable {
    case deviceOwnerAuthenticationWithBiometrics = 1
    case deviceOwnerAuthentication = 2
    case deviceOwnerAuthenticationWithCompanion = 3
    case deviceOwnerAuthenticationWithBiometricsOrCompanion = 4

    // Older names.
    public static let deviceOwnerAuthenticationWithWatch = deviceOwnerAuthenticationWithCompanion
    public static let deviceOwnerAuthenticationWithBiometricsOrWatch =
        deviceOwnerAuthenticationWithBiometricsOrCompanion

    /// The error that Apple documents for a device that lacks what the policy needs.
    var unavailability: LAError.Code {
        switch self {
        case .deviceOwnerAuthenticationWithBiometrics, .deviceOwnerAuthenticationWithBiometricsOrCompanion:
            .biometryNotAvailable
        case .deviceOwnerAuthentication: .passcodeNotSet
        case .deviceOwnerAuthenticationWithCompanion: .companionNotAvailable
        }
    }
}

/// The biometry of a device. Values are those of Apple's `LAContext.h`.
public enum LABiometryType: Int, Sendable {
    case none = 0
    case touchID = 1
    case faceID = 2
    case opticID = 4
}
