import ArgumentParser
import Foundation
import KeychainCommands
import KeychainMount

struct EditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Change the secret of an item in an editor, or add one of several lines.",
        discussion: """
            Runs VISUAL, or else EDITOR, or else vi, on the item's file in the mount. Each save is an update; the old secret is lost then. \
            vim, nvim, nano, emacs and micro get options so that they keep no copy in other files (swap, backup and undo files) and \
            add no line feed; for other editors there is a warning.

            Exit codes: those of the editor. Before it is started: 17 not in a mounted keychain of yours; 21 the item is damaged; 22 \
            read-only; 23 locked; 29 not a possible item; 30 the daemon does not respond; 31 no permission.
            """)

    @OptionGroup var owner: MountOwnerOption
    @OptionGroup var item: ItemArgument

    func run() throws {
        var editorStatus: Int32 = 0
        try reporting(setup: ProcessSetup.runBeforeProgram, withoutProc: .notMounted) { () throws(CLIError) in
            let item = EditedItem(try item.name.mountedItem(), owner: try owner.mountOwner())
            let editor = Editor(environment: ProcessInfo.processInfo.environment)
            editorStatus = try item.edit(with: editor, showMessage: Console.message)
        }
        guard editorStatus == 0 else { throw ArgumentParser.ExitCode(editorStatus) }
    }
}
