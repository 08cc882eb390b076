internal import Foundation

/// The reason why a ``SecAccessControl`` cannot be created.
enum SecAccessControlError: Error, Hashable {
    /// The protection is not a kSecAttrAccessible constant.
    case unknownProtection
    /// The flags exclude each other.
    case contradiction

    /// The error for the caller, with the code errSecParam.
    var object: CFError {
        NSError(
            domain: NSOSStatusErrorDomain, code: Int(errSecParam), userInfo: [NSLocalizedDescriptionKey: description])
    }

    private var description: String {
        switch self {
        case .unknownProtection: "The protection is none of the kSecAttrAccessible constants."
        case .contradiction: "The flags of the access control contradict each other."
        }
    }
}
