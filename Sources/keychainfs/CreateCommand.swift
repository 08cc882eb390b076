import ArgumentParser
import KeychainMount

struct Create: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Make a new, empty keychain.",
        discussion:
            "Asks twice for a passphrase. There is no way to it without the passphrase: keep it well, or add a recovery key with 'keychainfs slot add --kind recovery'."
    )

    @OptionGroup var keychain: KeychainOption
    @Option(name: .customLong("passphrase-file"), help: passphraseFileHelp, completion: .file())
    var passphraseFile: String?
    @Option(help: "The cost of a guess: \(CostChoice.names).")
    var kdf: CostChoice = .moderate

    func run() throws {
        try reporting(hasSecrets: true) { () throws(Failure) in
            let source = PassphraseSource(option: passphraseFile)
            try KeychainFile(path: keychain.path).create(passphrase: source, cost: kdf)
            Report.message("made \(keychain.path). Mount it with '\(keychain.mountCommand)'.")
        }
    }
}

extension CostChoice: ExpressibleByArgument {}
