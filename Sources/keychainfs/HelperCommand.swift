import ArgumentParser
import Foundation
import KeychainCommands
import KeychainMount

struct HelperCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "helper", abstract: "Give passwords to other programs, by their protocols.",
        subcommands: [AskpassCommand.self, DockerCredentialCommand.self, GitCredentialCommand.self])
}

struct AskpassCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "askpass", abstract: "Answer the prompt of ssh, git or sudo with an item.",
        usage: "keychainfs helper askpass [--] [<prompt>]",
        discussion: """
            Prints the first line of the item that the variable KEYCHAINFS_ASKPASS_ITEM names. The prompt does not select an item, because \
            servers write prompts. A prompt that begins with 'Username' gets the item's account; a question (yes/no) no answer.

            Programs need a program without arguments: the link keychainfs-askpass, for SSH_ASKPASS (with SSH_ASKPASS_REQUIRE=force), \
            GIT_ASKPASS and SUDO_ASKPASS (sudo -A).

            Exit codes: those of 'get'; 1 also for a question; 29 also if there is no text; 64 the variable is not set.
            """)

    @Argument(help: ArgumentHelp("The prompt, which is not printed.", valueName: "prompt"))
    var prompt: String?

    private var item: String? { ProcessInfo.processInfo.environment[AskpassPrompt.variable] }

    func validate() throws {
        guard item?.isEmpty != false else { return }
        throw ValidationError("Set \(AskpassPrompt.variable) to an item, such as 'web/amy'.")
    }

    func run() throws {
        try reporting(hasSecrets: true, withoutProc: .notMounted) { () throws(CLIError) in
            let kind = ProcessInfo.processInfo.environment["SSH_ASKPASS_PROMPT"]
            try Console.result(try AskpassPrompt(prompt ?? "", kind: kind).answer(from: ItemName(item ?? "")))
        }
    }
}
