import Foundation
import LocalAuthentication

public struct DeviceOwner {
    private let context: LAContext

    public init(context: LAContext = LAContext()) { self.context = context }

    /// Whether biometry is available, or the reason why it is not.
    public var explanation: String {
        var error: NSError?
        guard !context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error) else {
            return "available"
        }
        switch error.map({ LAError.Code(rawValue: $0.code) }) {
        case .biometryNotEnrolled: return "not enrolled"
        case .biometryNotAvailable: return "not available"
        default: return "failed"
        }
    }
}
