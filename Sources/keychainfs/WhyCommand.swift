import ArgumentParser
import KeychainCommands
import KeychainMount

struct WhyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why", abstract: "Explain why a file of a keychain cannot be read, written or created.",
        discussion: """
            Tries it, without a change, and prints the reason and the command that helps. Names are those of 'get'; directories, too.

            Exit codes: 0 it can be read and written, or listed; otherwise the code with which that would end: 17 not in a mounted \
            keychain; 19 the disk is full; 21 damaged; 22 read-only; 23 locked; 26 it does not exist, and can be created; 29 not \
            possible there; 30 the daemon does not respond; 31 no permission.
            """)

    @Argument(
        help: ArgumentHelp("SERVICE/NAME, a path in a mount, or keychain:SERVICE/NAME.", valueName: "path"))
    var path: String

    func run() throws {
        var code = KeychainMount.ExitCode.success
        try reporting(hasSecrets: true, withoutProc: .notMounted) { () throws(CLIError) in
            let explanation = Explanation(of: ItemName(path))
            try Console.result(explanation.text)
            code = explanation.exitCode
        }
        guard code == .success else { throw ArgumentParser.ExitCode(code.rawValue) }
    }
}
