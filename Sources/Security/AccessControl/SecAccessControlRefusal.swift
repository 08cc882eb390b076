internal import Foundation

/// Why there can be no ``SecAccessControl``.
enum SecAccessControlRefusal: Error, Hashable {
    /// What is none of the kSecAttrAccessible constants.
    case unknownProtection
    /// Flags that cannot stand together.
    case contradiction
    /// Flags that ask for biometry, a paired device, a Secure Enclave or an application's password.
    case unavailable

    var status: OSStatus {
        switch self {
        case .unknownProtection, .contradiction: errSecParam
        case .unavailable: errSecUnimplemented
        }
    }

    /// What a caller gets.
    var object: CFError {
        NSError(
            domain: NSOSStatusErrorDomain, code: Int(status), userInfo: [NSLocalizedDescriptionKey: description])
    }

    private var description: String {
        switch self {
        case .unknownProtection: "The protection is none of the kSecAttrAccessible constants."
        case .contradiction: "The flags of the access control contradict each other."
        case .unavailable: "The access control asks for hardware or a password that this system does not have."
        }
    }
}
