import ArgumentParser
import Glibc
import KeychainCommands
import KeychainMount
import SecretCrypto

struct GitCredentialCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "git-credential",
        abstract: "The credential helper of git: passwords are items of internet-passwords.",
        usage: "keychainfs helper git-credential [--] <operation>",
        discussion: """
            For git, this is the program git-credential-keychainfs: 'git config --global credential.helper keychainfs'. The item of a password is \
            internet-passwords/HOST,protocol=PROTOCOL[,port=PORT][,path=PATH]/USER in the default mount. Operations: get, store, erase; others do \
            nothing.

            Exit codes: 0, also if no item matches, or it cannot be read (a message says why): git then asks for the password.
            """)

    /// The greatest size of a request in bytes.
    private static let limit = 256 << 10

    @Argument(help: ArgumentHelp("get, store or erase.", valueName: "operation"))
    var operation: String

    func run() throws {
        try reporting(hasSecrets: true) { () throws(CLIError) in
            guard ["get", "store", "erase"].contains(operation) else { return }
            do throws(CLIError) {
                try answer()
            } catch {
                Console.message(error.message)
            }
        }
    }

    private func answer() throws(CLIError) {
        let input: SecretBytes
        do throws(CryptoError) {
            input = try SecretBytes.read(from: STDIN_FILENO, limit: Self.limit)
        } catch {
            throw CLIError(.failure, "The request of git is too long, or cannot be read.")
        }
        guard let request = CredentialRequest(input) else { return }
        let credential = try GitCredential(request)
        switch operation {
        case "get": if let lines = try credential.get() { try Console.result(lines) }
        case "store": try credential.store()
        default: try credential.erase()
        }
    }
}
