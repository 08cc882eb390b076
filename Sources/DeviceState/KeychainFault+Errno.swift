package import Keychain
package import SystemPackage

extension KeychainFault {
    /// Maps the errno of a system call that has written a file.
    package init(_ errno: Errno) {
        self =
            switch errno {
            case .noSpace, .diskQuotaExceeded: .diskFull
            case .readOnlyFileSystem: .readOnly
            default: .io(-errno.rawValue)
            }
    }
}
