/// The biometry of a device. Values are those of Apple's `LAContext.h`.
public enum LABiometryType: Int, Sendable {
    case none = 0
    case touchID = 1
    case faceID = 2
    case opticID = 4
}
