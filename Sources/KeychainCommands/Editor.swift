import Foundation
import LinuxSupport

/// The user's editor, with options so that it keeps no copy of a secret in another file and adds no line feed (contract, E21).
package struct Editor: Sendable {
    /// The command of a shell that starts it.
    private let command: String
    private let kind: Kind?

    private enum Kind: Sendable {
        case vim
        case nano
        case emacs
        case micro
    }

    /// - Parameter environment: `VISUAL`, or else `EDITOR`; `vi` if both are empty or not set.
    package init(environment: [String: String]) {
        let named = [environment["VISUAL"], environment["EDITOR"]].compactMap(\.self).first { !$0.isEmpty }
        self.init(command: named ?? "vi")
    }

    init(command: String) {
        self.command = command
        kind = Self.program(of: command).flatMap(Self.kind)
    }

    /// Whether the editor may keep copies of the text in other files.
    var mayKeepCopies: Bool { kind == nil }

    /// The command of a shell that starts it with the arguments of the shell. A single program replaces the shell, which Ctrl-C would end.
    var script: String {
        let isSingle = !command.contains { "|&;()<>\n=".contains($0) }
        return (isSingle ? "exec " : "") + command + " \"$@\""
    }

    /// The arguments before the file.
    ///
    /// - Parameter isNew: Whether the file does not exist.
    func options(isNew: Bool) -> [String] {
        switch kind {
        // The vimrc follows --cmd and precedes -c; -n follows the vimrc.
        case .vim:
            ["-n", "-i", "NONE", "--cmd", Self.vimSettings, "-c", Self.vimSettings + (isNew ? " noendofline" : "")]
        // Without the nanorc, which can turn on backups.
        case .nano: ["-I", "-L"]
        case .emacs: ["--eval", Self.emacsSettings]
        case .micro: ["-backup", "false", "-saveundo", "false", "-savehistory", "false", "-eofnewline", "false"]
        case nil: []
        }
    }

    private static let vimSettings = "set noswapfile nobackup nowritebackup noundofile nofixendofline"
    private static let emacsSettings = """
        (setq make-backup-files nil auto-save-default nil create-lockfiles nil \
        require-final-newline nil mode-require-final-newline nil)
        """

    /// Returns the name of the program, behind symbolic links such as those of update-alternatives(1).
    private static func program(of command: String) -> String? {
        guard let word = command.split(separator: " ").first else { return nil }
        let path = word.utf8.contains(UInt8(ascii: "/")) ? String(word) : ChildProcess.find(String(word))
        guard let path else { return nil }
        return URL(fileURLWithPath: path).resolvingSymlinksInPath().lastPathComponent
    }

    private static func kind(_ program: String) -> Kind? {
        switch program {
        case "nvim",
            _ where program.hasPrefix("vim"):
            .vim
        case "nano", "rnano": .nano
        case "micro": .micro
        case _ where program.hasPrefix("emacs") && !program.hasPrefix("emacsclient"): .emacs
        default: nil
        }
    }
}
