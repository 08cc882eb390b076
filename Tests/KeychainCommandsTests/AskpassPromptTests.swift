import KeychainMount
import Testing

@testable import KeychainCommands

@Suite("Prompts of askpass")
struct AskpassPromptTests {
    @Test(
        "E8: a question gets no answer",
        arguments: [
            "Are you sure you want to continue connecting (yes/no/[fingerprint])? ", "Overwrite (yes/no)?",
            "(yes/no)?\n\t ",
        ])
    func question(_ text: String) {
        #expect(throws: CLIError.self) { try AskpassPrompt(text, kind: nil) }
    }

    @Test(
        "E8: every other prompt gets one",
        arguments: ["", "  ", "(yes/no)", "password?", "(yes/no) password (x)", "No)?"])
    func prompt(_ text: String) throws {
        _ = try AskpassPrompt(text, kind: nil)
        _ = try AskpassPrompt(text, kind: "")
        for kind in ["confirm", "none"] { #expect(throws: CLIError.self) { try AskpassPrompt(text, kind: kind) } }
    }
}
