import ArgumentParser
import KeychainMount

/// The command that the completion scripts in share/completions run. It prints nothing on failure.
struct CompleteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "complete", shouldDisplay: false)

    @Argument(parsing: .captureForPassthrough, help: "A shell and its words, or 'list' and a query.")
    var words: [String] = []

    func run() throws {
        ProcessSetup.run(hasSecrets: false)
        let rest = Array(words.dropFirst())
        let output: String
        if words.first == "list" {
            output = CompletionResult.list(rest)
        } else {
            guard let shell = words.first.flatMap(CompletionResult.Shell.init(rawValue:)),
                let tree = CommandTree(description: KeychainFS._dumpHelp())
            else { return }
            output = CompletionResult(shell, rest, tree: tree)?.output ?? ""
        }
        // Without output the failure cannot be reported.
        try? Console.result(output, terminator: "")
    }
}
