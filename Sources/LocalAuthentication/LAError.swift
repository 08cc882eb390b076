public import Foundation

/// The domain of ``LAError`` as an NSError.
public let LAErrorDomain = "com.apple.LocalAuthentication"

/// The reason why the user was not authenticated. Codes are those of Apple's `LAError.h`.
public struct LAError: CustomNSError, LocalizedError, Hashable, Sendable {
    public enum Code: Int, Sendable {
        case authenticationFailed = -1
        case userCancel = -2
        case userFallback = -3
        case systemCancel = -4
        case passcodeNotSet = -5
        case biometryNotAvailable = -6
        case biometryNotEnrolled = -7
        case biometryLockout = -8
        case appCancel = -9
        case invalidContext = -10
        case companionNotAvailable = -11
        case biometryNotPaired = -12
        case biometryDisconnected = -13
        case invalidDimensions = -14
        case notInteractive = -1004

        // Older names.
        public static let touchIDNotAvailable = biometryNotAvailable
        public static let touchIDNotEnrolled = biometryNotEnrolled
        public static let touchIDLockout = biometryLockout
        public static let watchNotAvailable = companionNotAvailable
    }

    public static let errorDomain = LAErrorDomain
    public let code: Code
    private let object: NSError

    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        self.code = code
        let userInfo = [NSLocalizedDescriptionKey: code.meaning].merging(userInfo) { $1 }
        object = NSError(domain: Self.errorDomain, code: code.rawValue, userInfo: userInfo)
    }

    /// Creates the value of an NSError. An error of another domain, or with an unknown code, becomes
    /// `authenticationFailed`.
    public init(_nsError error: NSError) {
        self = Self(of: error) ?? Self(.authenticationFailed, userInfo: error.userInfo)
    }

    fileprivate init?(of error: NSError) {
        guard error.domain == Self.errorDomain, let code = Code(rawValue: error.code) else { return nil }
        self.init(code, userInfo: error.userInfo)
    }

    public var userInfo: [String: Any] { object.userInfo }
    public var errorCode: Int { code.rawValue }
    public var errorUserInfo: [String: Any] { object.userInfo }
    public var errorDescription: String? { object.localizedDescription }
}

extension LAError {
    public static let authenticationFailed = Code.authenticationFailed
    public static let userCancel = Code.userCancel
    public static let userFallback = Code.userFallback
    public static let systemCancel = Code.systemCancel
    public static let passcodeNotSet = Code.passcodeNotSet
    public static let biometryNotAvailable = Code.biometryNotAvailable
    public static let biometryNotEnrolled = Code.biometryNotEnrolled
    public static let biometryLockout = Code.biometryLockout
    public static let appCancel = Code.appCancel
    public static let invalidContext = Code.invalidContext
    public static let companionNotAvailable = Code.companionNotAvailable
    public static let biometryNotPaired = Code.biometryNotPaired
    public static let biometryDisconnected = Code.biometryDisconnected
    public static let invalidDimensions = Code.invalidDimensions
    public static let notInteractive = Code.notInteractive
    public static let touchIDNotAvailable = Code.touchIDNotAvailable
    public static let touchIDNotEnrolled = Code.touchIDNotEnrolled
    public static let touchIDLockout = Code.touchIDLockout
    public static let watchNotAvailable = Code.watchNotAvailable
}

extension LAError.Code {
    /// Whether an error has this code: `catch LAError.userCancel`.
    public static func ~= (code: Self, error: any Error) -> Bool { (error as? LAError)?.code == code }

    fileprivate var meaning: String {
        switch self {
        case .authenticationFailed: "The user was not authenticated."
        case .userCancel: "The user canceled the authentication."
        case .userFallback: "The user wants to enter a password."
        case .systemCancel: "The system canceled the authentication."
        case .passcodeNotSet: "The device has no passcode."
        case .biometryNotAvailable: "Biometry is not available on this device."
        case .biometryNotEnrolled: "The user has registered no biometry."
        case .biometryLockout: "Biometry is locked after too many attempts."
        case .appCancel: "The program canceled the authentication."
        case .invalidContext: "The context is invalid."
        case .companionNotAvailable: "No paired device is available."
        case .biometryNotPaired: "No device for biometry is paired."
        case .biometryDisconnected: "The device for biometry is not connected."
        case .invalidDimensions: "The size of the user interface is not valid."
        case .notInteractive: "User interaction is not allowed."
        }
    }
}

/// Casts to and from NSError (`error as? LAError`), as on Apple's systems.
extension LAError: _ObjectiveCBridgeable {
    public func _bridgeToObjectiveC() -> NSError { object }

    public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) -> Bool {
        result = LAError(of: source)
        return result != nil
    }

    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) {
        result = LAError(_nsError: source)
    }

    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> LAError {
        source.map { LAError(_nsError: $0) } ?? LAError(.authenticationFailed)
    }
}
