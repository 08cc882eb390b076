import ArgumentParser
import KeychainMount

struct CreateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Make a new, empty keychain.",
        discussion:
            "Asks twice for a passphrase. There is no way to it without the passphrase: keep it well, or add a recovery key with 'keychainfs slot add --kind recovery'."
    )

    @OptionGroup var keychain: KeychainOption
    @Option(name: .customLong("passphrase-file"), help: passphraseFileHelp, completion: .file())
    var passphraseFile: String?
    @Option(help: "The cost of a guess: \(KDFCostOption.names).")
    var kdf: KDFCostOption = .moderate

    func run() throws {
        try reporting(hasSecrets: true) { () throws(CLIError) in
            let source = PassphraseSource(option: passphraseFile)
            try KeychainPath(path: keychain.path).create(passphrase: source, cost: kdf)
            Console.message("created \(keychain.path). Mount it with '\(keychain.mountCommand)'.")
        }
    }
}

extension KDFCostOption: ExpressibleByArgument {}
