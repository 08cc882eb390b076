import ArgumentParser
import Glibc
import KeychainCommands
import KeychainMount
import SecretCrypto

struct DockerCredentialCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "docker-credential",
        abstract: "The credential helper of docker and podman: passwords of registries are items.",
        usage: "keychainfs helper docker-credential [--] <operation>",
        discussion: """
            For docker and podman, this is the program docker-credential-keychainfs: put '"credsStore": "keychainfs"' into \
            ~/.docker/config.json. The item of a server is internet-passwords/HOST[,protocol=PROTOCOL][,port=PORT][,path=PATH]/USER with the \
            label 'Docker Credentials' in the default mount. A new password replaces the old one, which is lost. Operations: get, store, erase, \
            list.

            Exit codes: 0; 1 for every failure, with the message on standard output too.
            """)

    /// The greatest size of a request in bytes.
    private static let limit = 256 << 10

    @Argument(help: ArgumentHelp("get, store, erase or list.", valueName: "operation"))
    var operation: String

    func run() throws {
        var isFound = true
        try reporting(hasSecrets: true) { () throws(CLIError) in
            do throws(CLIError) {
                isFound = try answer()
            } catch {
                // The protocol has errors on standard output; docker shows those on standard error.
                try Console.result(error.message)
                throw CLIError(.failure, error.message)
            }
        }
        if !isFound { throw ExitCode.failure }
    }

    /// Returns false if the server has no item: then docker asks the user, so there is no message.
    private func answer() throws(CLIError) -> Bool {
        switch operation {
        case "get":
            guard let answer = try DockerCredential().get(Self.request()) else {
                try Console.result(DockerCredential.notFound)
                return false
            }
            try Console.result(answer)
        case "store": try DockerCredential().store(Self.request())
        case "erase": try DockerCredential().erase(Self.request())
        case "list": try Console.result(DockerCredential().list())
        default: throw CLIError(.usage, "Operations are get, store, erase and list.")
        }
        return true
    }

    private static func request() throws(CLIError) -> SecretBytes {
        do throws(CryptoError) {
            return try SecretBytes.read(from: STDIN_FILENO, limit: limit)
        } catch {
            throw CLIError(.failure, "The request of docker is too long, or cannot be read.")
        }
    }
}
