import ArgumentParser
import KeychainMount

struct CreateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Make a new, empty keychain.",
        discussion:
            "Asks twice for a passphrase. If you lose it, all secrets are lost: add a recovery key with 'keychainfs slot add --kind recovery'. An existing file is never changed."
    )

    @OptionGroup var keychain: KeychainOption
    @Option(name: .customLong("passphrase-file"), help: passphraseFileHelp, completion: .file())
    var passphraseFile: String?
    @Option(help: "The cost of a guess: \(KDFCostOption.names).")
    var kdf: KDFCostOption = .moderate

    func run() throws {
        try reporting(hasSecrets: true) { () throws(CLIError) in
            let source = PassphraseSource(option: passphraseFile)
            let file = keychain.file
            try file.create(passphrase: source, cost: kdf, showMessage: Console.message)
            Console.message("created \(file.path). Mount it with '\(file.mountCommand)'.")
        }
    }
}

extension KDFCostOption: ExpressibleByArgument {}
