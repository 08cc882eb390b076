import ArgumentParser
import KeychainMount

/// Refuses what cannot be the name of a keychain.
func requireKeychainName(_ name: String?) throws {
    guard let name, !KeychainPath.isPathOrName(name) else { return }
    throw ValidationError(
        name.isEmpty
            ? "The name of the keychain is empty."
            : "'\(name)' cannot be the name of a keychain. A path contains a '/': './\(name)'.")
}

/// Refuses the name of a file that is empty, or `-`, which means standard input or output to users of other programs.
///
/// - Parameter file: The file in a message: "backup".
func requireFileName(_ name: String?, of file: String) throws {
    if name?.isEmpty == true { throw ValidationError("The name of the \(file) is empty.") }
    if name == "-" {
        throw ValidationError("The \(file) must be a file, not standard input or output. './-' is a file named '-'.")
    }
}
