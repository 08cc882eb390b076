import ArgumentParser
import Glibc
import KeychainCommands
import KeychainMount
import SecretCrypto

struct CopyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy", abstract: "Copy the first line of a secret to the clipboard, for some time.",
        usage: "keychainfs copy [--all] [--clear-after <time>] <item>",
        discussion: """
            The clipboard is held by wl-copy (WAYLAND_DISPLAY), xclip or xsel (DISPLAY), and is empty after 45 s, or after \
            --clear-after, unless another program has copied something else before. A clipboard manager may keep a copy: exclude \
            secrets in its settings. wl-copy keeps the text in a file in /tmp, and is used only if that is in memory (tmpfs).

            Exit codes: those of 'get'; 29 also if there is no text; 1 no program for the clipboard, or no display.
            """)

    @Flag(help: "Copy the complete secret, not only its first line.")
    var all = false
    @Option(
        help: ArgumentHelp(
            "When the clipboard is cleared, such as 20s or 2m; 0: never. (default: 45s)", valueName: "time"))
    var clearAfter: String?
    @OptionGroup var item: ItemArgument

    func validate() throws {
        guard (try? ClearingTime(clearAfter)) == nil else { return }
        throw ValidationError("--clear-after needs a duration such as 20s or 2m, or 0.")
    }

    func run() throws {
        try reporting(hasSecrets: true, withoutProc: .notMounted) { () throws(CLIError) in
            let clearAfter = clearAfter ?? Settings.current.clearAfter ?? ClearingTime.standard
            let clipboard = try Clipboard()
            let text = try SecretText.read(item.name, isComplete: all)
            try clipboard.copy(
                text, holder: [HoldClipboardCommand.name, "--clear-after", clearAfter])
            guard isatty(STDERR_FILENO) == 1, let time = try? ClearingTime(clearAfter) else { return }
            Console.message(
                time.duration.map { "copied; the clipboard is cleared in \(DurationText.text($0))" } ?? "copied")
        }
    }
}

/// The process in the background that holds the clipboard.
struct HoldClipboardCommand: ParsableCommand {
    static let name = "hold-clipboard"
    static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

    @Option var clearAfter: String

    func run() throws {
        var status: Int32 = 0
        try reporting(settings: .none) { () throws(CLIError) in
            status = try Clipboard().hold(for: try ClearingTime(clearAfter).duration)
        }
        guard status == 0 else { throw ArgumentParser.ExitCode.failure }
    }
}
