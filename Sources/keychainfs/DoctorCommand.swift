import ArgumentParser
import KeychainMount

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Look whether a keychain can be mounted here, and how well it is protected.",
        discussion: "Needs no mount and no passphrase, and changes nothing. Fails if something is broken.")

    @OptionGroup var keychain: KeychainOption
    @OptionGroup var mountPoint: MountPointArgument
    @Flag(help: "As JSON, for scripts.")
    var json = false

    func run() throws {
        try reporting(hasSecrets: true, settings: .optional) { () throws(CLIError) in
            let diagnosis = Doctor(keychain: keychain.file, mountPoint: mountPoint.path).examine()
            try Console.result(json ? diagnosis.jsonText : diagnosis.text)
            if !diagnosis.isHealthy {
                throw CLIError(.failure, "A problem prevents keychains from working; see above.")
            }
        }
    }
}
